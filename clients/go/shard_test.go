package firstseen

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

func shardOf(t testing.TB, u universe, all []uint64) *shard {
	t.Helper()
	builder, err := newShardBuilder(u, uint64(len(all)), uint64(len(all)))
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range all {
		if err := builder.add(value); err != nil {
			t.Fatal(err)
		}
	}
	built, err := builder.finish()
	if err != nil {
		t.Fatal(err)
	}
	return built
}

func TestShards(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, u := range []universe{{1, 10}, {1, 1 << 62}, {4, 1 << 62}, {1, 1000}, {7, 12345}, {1 << 16, 1 << 20}, {1 << 31, 1 << 33}, {46_000, 38 << 20}} {
		for _, count := range []int{0, 1, 2, 63, 64, 65, 700, 20_000} {
			if float64(count) > float64(u.last())/10 {
				continue
			}
			all := map[uint64]bool{}
			if count > 1 {
				all[0], all[u.last()] = true, true
			}
			for len(all) < count {
				value := random.Uint64()
				if u.last() != math.MaxUint64 {
					value %= u.last() + 1
				}
				// Some values next to each other.
				for ; len(all) < count && !all[value] && value < u.last() && random.IntN(3) > 0; value++ {
					all[value] = true
				}
				if len(all) < count {
					all[value] = true
				}
			}
			sorted := make([]uint64, 0, len(all))
			for value := range all {
				sorted = append(sorted, value)
			}
			slices.Sort(sorted)
			s := shardOf(t, u, sorted)
			iterator := values{shard: s}
			for _, want := range sorted {
				if got, ok := iterator.next(); !ok || got != want {
					t.Fatalf("%v: the next value must be %d, got %d", u, want, got)
				}
				if !s.holds(want) {
					t.Fatalf("%v: %d must be in the set", u, want)
				}
				for _, near := range []uint64{want - 1, want + 1} {
					if near <= u.last() && s.holds(near) != all[near] {
						t.Fatalf("%v: %d must be found: %t", u, near, all[near])
					}
				}
			}
			if _, ok := iterator.next(); ok {
				t.Fatal("there are more values")
			}
			for range 1000 {
				suffix := random.Uint64()
				exact := new(big.Int).Mul(new(big.Int).SetUint64(suffix), u.size())
				value := exact.Rsh(exact, 64).Uint64()
				if u.value(suffix) != value || s.contains(suffix) != all[value] {
					t.Fatalf("%v: the value %d of %x must be found: %t", u, value, suffix, all[value])
				}
				if least := u.leastSuffix(value); u.value(least) != value || least > 0 && u.value(least-1) == value {
					t.Fatalf("%v: %x must be the least suffix of %d", u, least, value)
				}
				if at, _ := slices.BinarySearch(sorted, value); count > 0 {
					next, ok := s.valuesFrom(value).next()
					if ok != (at < count) || ok && next != sorted[at] {
						t.Fatalf("%v: the first value from %d on must be number %d, got %d", u, value, at, next)
					}
				}
			}
			if size := 64 * (len(s.low) + len(s.highs)); count > 1000 && float64(size)/float64(count) > math.Log2(float64(u.last())/float64(count))+2.6 {
				t.Errorf("%v: %d values take %d bits", u, count, size)
			}
		}
	}
}

func TestSelectOne(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		word := random.Uint64() & random.Uint64()
		number := 0
		for position := range 64 {
			if word>>position&1 == 1 {
				if got := selectOne(word, number); got != position {
					t.Fatalf("one %d of %x must be at %d, got %d", number, word, position, got)
				}
				number++
			}
		}
	}
}

func TestValuesBeyondTheCount(t *testing.T) {
	builder, err := newShardBuilder(universe{1, 100}, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := builder.finish(); err == nil {
		t.Error("a value is missing")
	}
	if err := builder.add(1); err != nil {
		t.Error(err)
	}
	if err := builder.add(2); err == nil {
		t.Error("there is one value too many")
	}
	if _, err := newShardBuilder(universe{1 << 31, 1 << 33}, maxShardValues+1, maxShardValues+1); err == nil {
		t.Error("a shard has a limit of values")
	}
}
