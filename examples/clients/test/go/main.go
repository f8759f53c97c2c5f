// Crawls the URLs of stdin with net/http, and prints what the tests need.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	politely "github.com/politely-crawler/politely/examples/clients/go"
)

type telling struct{ http.RoundTripper }

func (t telling) RoundTrip(req *http.Request) (*http.Response, error) {
	tell(map[string]any{"sent": float64(time.Now().UnixMicro()) / 1000, "url": req.URL.String()})
	return t.RoundTripper.RoundTrip(req)
}

func tell(line any) {
	data, _ := json.Marshal(line)
	fmt.Println(string(data))
}

func outcome(client *http.Client, url string) string {
	response, err := client.Get(url)
	var refused *politely.Refused
	if errors.As(err, &refused) {
		rule := refused.Result["verdict"].(map[string]any)["rule"].(map[string]any)
		return fmt.Sprintf("refused %v %v", refused.Result["because"], rule["line"])
	} else if err != nil {
		return "failed"
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return fmt.Sprintf("%d %s", response.StatusCode, body)
}

func main() {
	client := &http.Client{Transport: &politely.Transport{
		Server: os.Getenv("POLITELY_SERVER"), Token: os.Getenv("POLITELY_TOKEN"),
		HoldMs: 400, StartWithinMs: 100, LeaseMs: 2000,
		Base: telling{http.DefaultTransport},
	}}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		tell(map[string]any{"outcome": outcome(client, lines.Text()), "url": lines.Text()})
	}
}
