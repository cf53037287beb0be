# Sourced by run: its options, which the beginning of run explains, and what holds without them.

rounds=11 rows=1000000 seconds=2 sample_ms=100 sessions=1,2,8 growth=''
all_works=generate,sessions,transaction,client,insert,single,copy,beside,tpcb,durable,decode,redirect,create,names,range,join,conversion,growth
works=$all_works
peers=() preparations=() settings=() publish='' results=$bench/results

parse_options() {
    while [ $# -gt 0 ]; do
        case "$1" in
        --quick) rounds=2 rows=100000 seconds=1 sessions=1,8 sample_ms=20 ;;
        --publish) publish=yes ;;
        --rounds | --rows | --seconds | --sessions | --works | --growth | --peer | --prepare | --set)
            [ $# -gt 1 ] || misused "$1 needs a value"
            take_option "$1" "$2"
            shift
            ;;
        -*) misused "unknown option $1" ;;
        *) results=$1 ;;
        esac
        shift
    done
}

take_option() {
    case "$1=$2" in
    --rounds=[1-9]*) rounds=$2 ;;
    --rows=[1-9]*) rows=$2 ;;
    --seconds=[1-9]*) seconds=$2 ;;
    --sessions=[1-9]*) sessions=$2 ;;
    --works=[a-z]*) works=$2 ;;
    --growth=[1-9]*) growth=$2 ;;
    --peer=?*=?*) peers+=("$2") ;;
    --prepare=?*) preparations+=("$2") ;;
    --set=?*=?*) settings+=(-c "'$2'") ;;
    *) misused "$1 does not take the value $2" ;;
    esac
}

check_options() {
    local name
    for name in ${works//,/ }; do
        is_one_of "$name" "$all_works" || misused "there is no work $name"
    done
    [ -z "$publish" ] || [ "$works" = "$all_works" ] || misused "--publish is for all works, not for --works"
}

# Tells whether a name is in a list: is_one_of NAME NAME,NAME...
is_one_of() {
    case ",$2," in
    *",$1,"*) ;;
    *) return 1 ;;
    esac
}

misused() {
    echo "$1: see the beginning of bench/run" >&2
    exit 2
}
