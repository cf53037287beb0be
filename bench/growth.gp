# The chart of growth: two panels side by side. Wants times and sizes (files from growth_chart.sql),
# title and picture.
grey = "#848d97"
# Of the server's nextval, this extension, and UUIDs.
array colors = ["#848d97", "#2f81c7", "#b7791f", "#8957a8"]

set terminal svg size 760, 340 font "sans-serif,13" noenhanced
set output picture
set datafile separator "\t"
set border 3 linecolor rgb grey
set tics nomirror textcolor rgb grey
set xlabel "millions of rows" textcolor rgb grey
set xrange [0:*]
set yrange [0:*]
set key left top Left reverse samplen 2 textcolor rgb grey

stats times skip 1 nooutput
set multiplot layout 1, 2
do for [panel in "times sizes"] {
    data = panel eq "times" ? times : sizes
    set title panel eq "times" ? title : "Size of the primary key: GB" textcolor rgb grey
    # No index is large while the table is small, so the names have room in that corner.
    if (panel eq "times") { unset key } else { set key }
    plot for [i = 2 : STATS_columns] data using 1:i with lines linewidth (i == 2 ? 4 : 2) \
        linecolor rgb colors[i - 1] title columnheader(i)
}
unset multiplot
