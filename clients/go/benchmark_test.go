//go:build unix

package firstseen

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"

	"firstseen.io/firstseen/internal/canonical"
)

// names is the number of names of the large public lists of hosts.
const names = 1_740_000

func nameOf(i int) string { return fmt.Sprintf("name-%d.example%d.com", i, i%5003) }

func heap() float64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}

// measure runs a query b.N times, and reports the time of the CPU, which other programs disturb less.
func measure(b *testing.B, query func(i int) (bool, error)) {
	b.ReportAllocs()
	start := cpuTime()
	for i := range b.N {
		// Every second query is for a name in the set.
		if found, err := query(i % asked); err != nil || i%2 == 0 && !found {
			b.Fatal(i%asked, found, err)
		}
	}
	seconds := float64(cpuTime()-start) / 1e9
	b.ReportMetric(float64(b.N)/seconds/1e6, "M-per-CPU-s")
}

func cpuTime() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

const asked = 1 << 16

func Benchmark(b *testing.B) {
	before := heap()
	// The public suffix list is a part of the heap.
	if _, err := canonical.Visited("example.com"); err != nil {
		b.Fatal(err)
	}
	hosts := setOfForms(b, canonical.Newest(canonical.URLExpression), 0x1p-20, names, func(i int) string { return nameOf(i) + "/" })
	memory := heap() - before
	none := *hosts
	none.rule = canonical.Newest(canonical.None)
	queries, urls, forms, hashes := make([]string, asked), make([]string, asked), make([]string, asked), make([]uint64, asked)
	for i := range queries {
		number := i * 7919 % names
		if i%2 == 1 {
			number += names
		}
		queries[i] = nameOf(number)
		urls[i] = "https://www." + queries[i] + "/some/page.html?id=1"
		forms[i] = queries[i] + "/"
		hashes[i] = hosts.hash.hash(forms[i])
	}
	b.Run("hash", func(b *testing.B) {
		measure(b, func(i int) (bool, error) { return hosts.ContainsHash(hashes[i]), nil })
		b.ReportMetric(memory/1e6, "MB-heap")
	})
	b.Run("key", func(b *testing.B) {
		measure(b, func(i int) (bool, error) { return none.Contains(forms[i]) })
	})
	b.Run("host", func(b *testing.B) {
		measure(b, func(i int) (bool, error) {
			_, found, err := hosts.Match(queries[i])
			return found, err
		})
	})
	b.Run("URL", func(b *testing.B) {
		measure(b, func(i int) (bool, error) {
			_, found, err := hosts.Match(urls[i])
			return found, err
		})
	})
	runtime.KeepAlive(hosts)
}
