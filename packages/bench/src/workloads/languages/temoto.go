// temoto/robotstxt as a reader of languages.ts. It takes paths, so the cut costs it nothing else.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/temoto/robotstxt"
)

type site struct {
	robots []byte
	urls   []string
}

func processorNs() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func sitesIn(name string) (sites []site) {
	file, err := os.Open(name)
	if err != nil {
		panic(err)
	}
	reader := bufio.NewReader(file)
	for {
		var bytes, count int
		if _, err := fmt.Fscanf(reader, "%d %d\n", &bytes, &count); err != nil {
			return sites
		}
		one := site{make([]byte, bytes), make([]string, count)}
		io.ReadFull(reader, one.robots)
		reader.ReadByte()
		for i := range one.urls {
			line, _ := reader.ReadString('\n')
			one.urls[i] = strings.TrimSuffix(line, "\n")
		}
		sites = append(sites, one)
	}
}

func main() {
	sites := sitesIn(os.Args[1])
	crawler := os.Args[2]
	for input := bufio.NewScanner(os.Stdin); input.Scan(); {
		count, _ := strconv.Atoi(input.Text())
		allowed := 0
		start := processorNs()
		for _, one := range sites {
			data, err := robotstxt.FromBytes(one.robots)
			if err != nil {
				continue
			}
			group := data.FindGroup(crawler)
			for _, url := range one.urls[:count] {
				if group.Test(url[8+strings.IndexByte(url[8:], '/'):]) {
					allowed++
				}
			}
		}
		fmt.Println((processorNs()-start)/int64(len(sites)), allowed)
	}
}
