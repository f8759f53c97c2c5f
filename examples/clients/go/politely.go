// Package politely asks a Politely server for a permit before each request, and before each hop of a redirect.
package politely

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// Transport is the Transport of an http.Client. Base sends the requests.
type Transport struct {
	Server, Token                  string
	HoldMs, StartWithinMs, LeaseMs int // milliseconds, such as 1000, 100 and 60000
	Base                           http.RoundTripper
}

type object = map[string]any

// Refused is the error for a URL that must not be requested. Result has because, verdict and retry_at.
type Refused struct{ Result object }

func (e *Refused) Error() string { return fmt.Sprint("refused: ", e.Result["because"]) }

var client = http.Client{Timeout: time.Minute}

var limits = regexp.MustCompile(`^(age|retry-after-ms)$|rate-?limit`)

// RoundTrip waits for a permit, sends the request, and reports the response when its body is closed.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ask := object{"hold_ms": t.HoldMs, "start_within_ms": t.StartWithinMs, "lease_ms": t.LeaseMs}
	for one := (object{"url": req.URL.String()}); ; {
		calledAt := time.Now()
		r, err := t.call("permits", "requests", one, ask)
		if err != nil {
			return nil, err
		} else if r["state"] == "refused" {
			return nil, &Refused{r}
		} else if r["state"] == "go" {
			after := int(time.Since(calledAt).Milliseconds()) + 1 - r["held_ms"].(int)
			if after <= t.StartWithinMs {
				return t.send(req, r, object{"permit": r["permit"], "sent_after_ms": after})
			}
			t.call("reports", "reports", object{"permit": r["permit"], "outcome": "not-sent"}, nil)
		}
		if ticket, ok := r["ticket"]; ok {
			one["ticket"] = ticket
		} else if r["state"] != "full" {
			delete(one, "ticket")
		}
		wait, _ := r["wait_ms"].(float64)
		select {
		case <-req.Context().Done():
			return nil, req.Context().Err()
		case <-time.After(time.Duration(wait) * time.Millisecond):
		}
	}
}

func (t *Transport) send(req *http.Request, r, report object) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Close = true // net/http repeats a request if a kept connection breaks
	req.Header.Set("User-Agent", r["user_agent"].(string))
	var renewal *time.Timer
	renewal = time.AfterFunc(time.Duration(t.LeaseMs/3)*time.Millisecond, func() {
		if done, _ := t.call("renewals", "permits", r["permit"], object{"lease_ms": t.LeaseMs}); done["state"] == "done" {
			renewal.Reset(time.Duration(t.LeaseMs/3) * time.Millisecond)
		}
	})
	res, err := t.Base.RoundTrip(req)
	if err != nil {
		report["outcome"] = "failed"
		t.call("reports", "reports", report, nil)
		return nil, err
	}
	ratelimit := map[string]string{}
	for name, values := range res.Header {
		if name = strings.ToLower(name); limits.MatchString(name) {
			ratelimit[name] = fmt.Sprintf("%.1000s", strings.Join(values, ", "))
		}
	}
	report["status"], report["ratelimit"] = res.StatusCode, ratelimit
	report["retry_after"] = fmt.Sprintf("%.64s", res.Header.Get("Retry-After"))
	res.Body = &body{res.Body, func() { t.call("reports", "reports", report, nil) }}
	return res, nil
}

type body struct {
	io.ReadCloser
	end func()
}

func (b *body) Close() error {
	defer func() { b.end(); b.end = func() {} }()
	return b.ReadCloser.Close()
}

// call sends one item, and returns its result. If a report is lost, the lease ends the permit.
func (t *Transport) call(path, list string, item any, options object) (object, error) {
	whole := object{list: []any{item}}
	for name, value := range options {
		whole[name] = value
	}
	data, _ := json.Marshal(whole)
	req, err := http.NewRequest("POST", t.Server+"/v1/"+path, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + t.Token}}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var answer struct {
		HeldMs  int `json:"held_ms"`
		Results []object
	}
	if json.NewDecoder(res.Body).Decode(&answer); len(answer.Results) != 1 {
		return nil, fmt.Errorf("%s: %s", req.URL, res.Status)
	}
	answer.Results[0]["held_ms"] = answer.HeldMs
	return answer.Results[0], nil
}
