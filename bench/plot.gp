# One bar chart. Wants data (a file from chart.sql), title and picture.
# Grey and a middle blue on nothing: readable on a light page and on a dark one.
rows = system("wc -l < '".data."'") + 0
grey = "#848d97"

set terminal svg size 760, 70 + 26 * rows font "sans-serif,13" noenhanced
set output picture
set datafile separator "\t"
set title title textcolor rgb grey
set border 0
unset key
set style fill solid 1 noborder
unset xtics
set ytics scale 0 textcolor rgb grey
set lmargin 32
set rmargin 12
set tmargin 3
set bmargin 1
set xrange [0:*]
set yrange [rows - 0.5 : -0.5]

color(ours) = ours == 1 ? 0x2f81c7 : 0x848d97

plot data using (0):0:(0):2:($0 - 0.36):($0 + 0.36):(color($5)):ytic(1) \
         with boxxyerror linecolor rgb variable, \
     data using 2:0:3:4 with xerrorbars linecolor rgb "#b7791f" linewidth 1.5 pointtype 0, \
     data using 4:0:6 with labels left offset 0.6, 0 textcolor rgb grey
