package firstseen_test

import (
	"context"
	"fmt"
	"log"

	"firstseen.io/firstseen"
)

func ExampleOpen() {
	list, err := firstseen.Open(context.Background(), "../../conformance/files/snapshots/expressions-2.snapshot", firstseen.Options{})
	if err != nil {
		log.Fatal(err)
	}
	entry, listed, err := list.Match("https://www.s2-citi.com/login")
	fmt.Println(entry, listed, err)
	_, _, err = list.Match("hxxp://www.s2-citi.com/")
	fmt.Println(err)
	// Output:
	// s2-citi.com/ true <nil>
	// invalid key: URL must start with ftp://, http://, https://, ws://, wss:// or a host, got 'hxxp:'
}

func ExampleFollow() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	set, err := firstseen.Follow(ctx, "../../conformance/files/sets/window-5", firstseen.Options{SetName: "example"})
	if err != nil {
		log.Fatal(err)
	}
	if err := set.Wait(ctx, 0); err != nil {
		log.Fatal(err)
	}
	present, err := set.Contains("http://example.com/key-90")
	fmt.Println(present, err)
	// Output: true <nil>
}
