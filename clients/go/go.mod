module firstseen.io/firstseen

go 1.25.0

require (
	github.com/dchest/siphash v1.2.3
	github.com/zeebo/xxh3 v1.1.0
	golang.org/x/net v0.58.0
	golang.org/x/text v0.41.0
)

require (
	github.com/klauspost/cpuid/v2 v2.2.10 // indirect
	golang.org/x/sys v0.47.0 // indirect
)
