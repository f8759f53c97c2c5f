package politely

import "testing"

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
