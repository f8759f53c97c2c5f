// Package politely asks a Politely server for a permit before each request, and before each hop of a redirect.
package politely

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
)

// APIVersion is the version of the server's /openapi.json, and of this module.
const APIVersion = "1.1.0"

// Transport is the Transport of an http.Client. Its zero value works.
type Transport struct {
	Server        string            // default: http://127.0.0.1:7420
	Token         string            // default: none
	HoldMs        int               // how long a call may be held for a permit, such as 1000; default: 0
	StartWithinMs int               // how long after its grant a request may start, at first; default: 100
	LeaseMs       int               // how long a permit lasts without a renewal; default: 60000
	Base          http.RoundTripper // sends the requests; default: http.DefaultTransport
	within        startWithin
}

func (t *Transport) firstWithinMs() int {
	if t.StartWithinMs == 0 {
		return 100
	}
	return t.StartWithinMs
}

func (t *Transport) leaseMs() int {
	if t.LeaseMs == 0 {
		return 60000
	}
	return t.LeaseMs
}

func (t *Transport) server() string {
	if t.Server == "" {
		return "http://127.0.0.1:7420"
	}
	return t.Server
}

func (t *Transport) base() http.RoundTripper {
	if t.Base == nil {
		return http.DefaultTransport
	}
	return t.Base
}

type object = map[string]any

// Refused is the error for a URL that must not be requested. Result has because, verdict and retry_at.
type Refused struct{ Result object }

func (e *Refused) Error() string {
	if message, ok := e.Result["message"]; ok {
		return fmt.Sprint("refused: ", message)
	}
	return fmt.Sprint("refused: ", e.Result["because"]) // by a server of an earlier version
}

const maxStartWithinMs = 1000 // of the server

// retryPauses come before a call is sent again that was not delivered, or that got a 5xx.
var retryPauses = []time.Duration{250 * time.Millisecond, time.Second, 3 * time.Second}

// startWithin is how long after its grant a request may be sent. A late permit doubles it. After 20 permits in a row
// that took less than half of it, it is halved.
type startWithin struct {
	sync.Mutex
	ms, early int
}

func (s *startWithin) current(first int) int {
	s.Lock()
	defer s.Unlock()
	if s.ms < first {
		s.ms = first
	}
	return s.ms
}

func (s *startWithin) isLate(first, granted, after int) bool {
	s.Lock()
	defer s.Unlock()
	if after > granted {
		if granted >= s.ms && s.ms < maxStartWithinMs { // earlier permits say nothing new
			s.ms = min(2*s.ms, maxStartWithinMs)
		}
		s.early = 0
		return true
	}
	s.early++
	if 2*after >= s.ms {
		s.early = 0
	}
	if s.early >= 20 {
		s.ms, s.early = s.ms/2, 0 // current raises it to the first value
	}
	return false
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

var client = http.Client{Timeout: time.Minute}

var limits = regexp.MustCompile(`^(age|retry-after-ms)$|rate-?limit`)

// RoundTrip waits for a permit, sends the request, and reports the response when its body is closed.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	permit, report, err := t.permit(req)
	if err != nil {
		if req.Body != nil {
			req.Body.Close() // as an http.RoundTripper must
		}
		return nil, err
	}
	return t.send(req, permit, report)
}

// permit waits for a permit, and returns it with the beginning of its report.
func (t *Transport) permit(req *http.Request) (permit, report object, err error) {
	for one := (object{"url": req.URL.String()}); ; {
		within := t.within.current(t.firstWithinMs())
		ask := object{"hold_ms": t.HoldMs, "start_within_ms": within, "lease_ms": t.leaseMs()}
		r, calledAt, err := t.call(req.Context(), "permits", "requests", one, ask)
		if err != nil {
			return nil, nil, err
		} else if r["state"] == "refused" {
			return nil, nil, &Refused{r}
		} else if r["state"] == "go" {
			after := int(time.Since(calledAt).Milliseconds()) + 1 - r["held_ms"].(int)
			if !t.within.isLate(t.firstWithinMs(), within, after) {
				return r, object{"permit": r["permit"], "sent_after_ms": after}, nil
			}
			t.report(object{"permit": r["permit"], "outcome": "not-sent"})
		}
		if ticket, ok := r["ticket"]; ok {
			one["ticket"] = ticket
		} else if r["state"] == "go" || r["state"] == "unknown" {
			delete(one, "ticket")
		}
		wait, _ := r["wait_ms"].(float64)
		select {
		case <-req.Context().Done():
			return nil, nil, req.Context().Err()
		case <-time.After(time.Duration(wait) * time.Millisecond):
		}
	}
}

func (t *Transport) send(req *http.Request, permit, report object) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Close = true // net/http repeats a request if a kept connection breaks
	req.Header.Set("User-Agent", permit["user_agent"].(string))
	ended := make(chan struct{})
	go t.renew(permit["permit"], ended)
	res, err := t.base().RoundTrip(req)
	if err != nil {
		close(ended)
		report["outcome"] = "failed"
		t.report(report)
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
	res.Body = &body{ReadCloser: res.Body, end: func() { close(ended); t.report(report) }}
	return res, nil
}

// renew extends a lease until the request has ended, or the server refuses.
func (t *Transport) renew(permit any, ended <-chan struct{}) {
	ticker := time.NewTicker(time.Duration(t.leaseMs()/3) * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			return
		case <-ticker.C:
		}
		lease := object{"lease_ms": t.leaseMs()}
		if r, _, _ := t.call(context.Background(), "renewals", "permits", permit, lease); r["state"] != "done" {
			return
		}
	}
}

type body struct {
	io.ReadCloser
	end  func()
	once sync.Once
}

func (b *body) Close() error {
	defer b.once.Do(b.end)
	return b.ReadCloser.Close()
}

// report outlives the request. If it is lost after all, the lease ends the permit.
func (t *Transport) report(report object) {
	t.call(context.Background(), "reports", "reports", report, nil)
}

// call sends one item, and returns its result, and when it was sent. It is sent again if it was not delivered.
func (t *Transport) call(ctx context.Context, path, list string, item any, options object) (object, time.Time, error) {
	for n := 0; ; n++ {
		calledAt := time.Now()
		result, status, err := t.callOnce(ctx, path, list, item, options)
		if err == nil || (status != 0 && status < 500) || n == len(retryPauses) {
			return result, calledAt, err
		}
		select {
		case <-ctx.Done():
			return nil, calledAt, ctx.Err()
		case <-time.After(retryPauses[n]):
		}
	}
}

func (t *Transport) callOnce(ctx context.Context, path, list string, item any, options object) (object, int, error) {
	whole := object{list: []any{item}}
	for name, value := range options {
		whole[name] = value
	}
	data, _ := json.Marshal(whole)
	req, err := http.NewRequestWithContext(ctx, "POST", t.server()+"/v1/"+path, bytes.NewReader(data))
	if err != nil {
		return nil, 0, err
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + t.Token}}
	res, err := client.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer res.Body.Close()
	if v := res.Header.Get("politely-api"); v != "" && !strings.HasPrefix(v, APIVersion[:strings.Index(APIVersion, ".")+1]) {
		return nil, 400, fmt.Errorf("the server %s speaks version %s of the API, and this module %s; "+
			"use the module from the same version of Politely as the server", t.server(), v, APIVersion)
	}
	var answer struct {
		HeldMs  int `json:"held_ms"`
		Detail  string
		Results []object
	}
	if json.NewDecoder(res.Body).Decode(&answer); len(answer.Results) != 1 {
		return nil, res.StatusCode, fmt.Errorf("%s: %s %s", req.URL, res.Status, answer.Detail)
	}
	answer.Results[0]["held_ms"] = answer.HeldMs
	return answer.Results[0], res.StatusCode, nil
}
