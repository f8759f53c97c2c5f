// Shares the pace of a fleet by Postgres alone: go run pace.go DSN DELAY_MS URL...
// Needs github.com/lib/pq. Prints a line of JSON for each request: its URL, its status, and when it was sent.
package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	_ "github.com/lib/pq"
)

type object = map[string]any

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func call(db *sql.DB, function string, request object) (reply object) {
	var text []byte
	asked, err := json.Marshal(request)
	check(err)
	check(db.QueryRow("SELECT politely."+function+"($1::jsonb)", string(asked)).Scan(&text))
	check(json.Unmarshal(text, &reply))
	return reply
}

func main() {
	db, err := sql.Open("postgres", os.Args[1])
	check(err)
	for _, url := range os.Args[3:] {
		origin := strings.Join(strings.SplitN(url, "/", 4)[:3], "/")
		// The request starts at most 100 ms after the call. A sleeping worker wakes up at most 20 ms late. No worker of
		// the fleet has a longer allowance than 6002 ms.
		request := object{"key": origin, "limits": object{"ownDelayMs": json.Number(os.Args[2])},
			"allowanceMs": 100, "timerAllowanceMs": 20, "maxAllowanceMs": 6002}
		for calledAt := time.Now(); ; calledAt = time.Now() {
			reply := call(db, "reserve", request)
			request["slot"] = reply["slot"] // if the reply took too long, the next call gives the slot back
			if reply["kind"] == "wait" {
				for name, value := range reply["turn"].(object) {
					request[name] = value
				}
				time.Sleep(time.Duration(reply["waitMs"].(float64) * float64(time.Millisecond)))
			} else if time.Since(calledAt) < 100*time.Millisecond {
				break
			}
		}
		sent := float64(time.Now().UnixMicro()) / 1000
		response, err := http.Get(url)
		check(err)
		check(response.Body.Close())
		report := object{"key": origin, "slot": request["slot"]}
		if response.StatusCode == 429 || response.StatusCode == 503 {
			report["pushback"] = object{"backoff": object{"firstMs": 5000, "maxMs": 300000, "factor": 2}}
		}
		call(db, "report", report)
		line, err := json.Marshal(object{"url": url, "status": response.StatusCode, "sent": sent})
		check(err)
		fmt.Println(string(line))
	}
}
