package politely

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestStartWithin(t *testing.T) {
	s := startWithin{}
	expect := func(ms int) {
		t.Helper()
		if s.current(100) != ms {
			t.Fatalf("%d ms, not %d", s.current(100), ms)
		}
	}
	expect(100)
	for _, ms := range []int{200, 400, 800, 1000, 1000} {
		s.isLate(100, s.current(100), 1001)
		expect(ms)
	}
	s.isLate(100, 100, 101) // of a call before these
	expect(1000)
	for _, ms := range []int{1000, 500, 250, 125, 100} {
		expect(ms)
		for n := 0; n < 20; n++ {
			s.isLate(100, s.current(100), 10)
		}
	}
	for n := 0; n < 40; n++ {
		s.isLate(100, 100, 60)
	}
	expect(100)
}

func TestTransportOfZeroValues(t *testing.T) {
	lines := make(chan string, 8)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		lines <- r.URL.Path + " " + string(body)
		switch {
		case strings.Contains(string(body), "/cart"):
			fmt.Fprint(w, `{"held_ms":0,"results":[{"state":"refused","because":"rule","message":"disallowed"}]}`)
		case r.URL.Path == "/v1/permits":
			fmt.Fprint(w, `{"held_ms":0,"results":[{"state":"go","permit":"p","user_agent":"ExampleBot/1.0"}]}`)
		default:
			fmt.Fprint(w, `{"results":[{"state":"done"}]}`)
		}
	}))
	defer server.Close()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.UserAgent())
	}))
	defer site.Close()
	client := http.Client{Transport: &Transport{Server: server.URL, StartWithinMs: 1000}}

	response, err := client.Get(site.URL)
	if err != nil {
		t.Fatal(err)
	}
	page, _ := io.ReadAll(response.Body)
	response.Body.Close()
	response.Body.Close() // is reported once
	if asked := <-lines; string(page) != "ExampleBot/1.0" || !strings.Contains(asked, `"lease_ms":60000`) {
		t.Fatal(string(page), asked)
	}
	if report := <-lines; !strings.HasPrefix(report, "/v1/reports") || len(lines) != 0 {
		t.Fatal(report, len(lines))
	}

	sent := &closing{Reader: strings.NewReader("x")}
	request, _ := http.NewRequest("POST", site.URL+"/cart", sent)
	var refused *Refused
	if _, err = client.Do(request); !errors.As(err, &refused) || !sent.isClosed {
		t.Fatal(err, sent.isClosed)
	}
}

type closing struct {
	io.Reader
	isClosed bool
}

func (c *closing) Close() error {
	c.isClosed = true
	return nil
}
