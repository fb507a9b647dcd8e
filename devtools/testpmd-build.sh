# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
#
# How quickstart and pgo build testpmd: read by them with ".", they say who they are in $self.
# $CC is the compiler, $out where builds go, $job what runs in the background.

OPTIONS="--buildtype=release --default-library=static -Ddeveloper_mode=disabled -Dtests=false
	-Denable_apps=test-pmd -Denable_drivers=bus/pci,bus/vdev,mempool/ring,net/vhost,net/virtio
	-Ddisable_libs=bitratestats,cfgfile,flow_classify,gpudev,gro,gso,jobstats,kni,latencystats,metrics,node,pdump,pipeline,port,power,table"
TAIL_LINES=15
job=

say() {
	echo "$self: $*" >&2
}

fail() {
	say "$*"
	exit 1
}

# Stop the background job.
end_job() {
	[ -z "$job" ] || { kill "$job" && wait "$job"; } 2>/dev/null
}

# Wait for the background job; unlike a command in the foreground
# it does not hold up a signal to this script.
wait_job() {
	wait $job
	status=$?
	job=
	return $status
}

# Run a command with its output in a log, and show how far it is: NAME LOG COMMAND...
watch() {
	name=$1 log=$2 shown=0
	shift 2
	"$@" >"$log" 2>&1 </dev/null &
	job=$!
	while kill -0 $job 2>/dev/null; do
		sleep 1
		shown=$((shown + 1))
		step=$(tail -c 4000 "$log" | grep -o '^\[[0-9]*/[0-9]*\]' | tail -n 1)
		if [ -t 2 ]; then
			printf '\r\033[K%s: %s %s' "$self" "$name" "$step" >&2
		elif [ $((shown % 15)) -eq 0 ]; then
			say "$name $step"
		fi
	done
	[ ! -t 2 ] || printf '\r\033[K' >&2
	wait_job || { tail -n $TAIL_LINES "$log" >&2; fail "$name failed, see $log"; }
}

# Take a directory that nobody else may build in at the same time.
lock_out() {
	mkdir -p "$out" || exit 1
	exec 9>"$out/lock"
	flock -n 9 || fail "another build is at work in $out"
	trap clean_up EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
}

# Build testpmd of one variant: NAME SOURCE OPTION...
build() {
	dir=$out/$1
	variant=$1
	source=$2
	shift 2
	# shellcheck disable=SC2086 # several options
	set -- "$dir" "$source" $OPTIONS "$@"
	# Options that changed, or a setup that was interrupted: from the start.
	if [ "$(cat "$dir.args" 2>/dev/null)" != "$CC $*" ] || [ ! -f "$dir/build.ninja" ]; then
		rm -rf "$dir" "$dir.args"
		mkdir "$dir" || exit 1
		# One of DPDK's checks leaves a temporary file behind: better here than in /tmp.
		watch "configures $variant" "$dir.setup.log" env TMPDIR="$dir" meson setup "$@"
		echo "$CC $*" >"$dir.args"
	fi
	begin=$(date +%s)
	watch "builds $variant" "$dir.build.log" ninja -C "$dir" app/dpdk-testpmd
	say "$variant is built ($(($(date +%s) - begin)) s)"
}
