// The line that a terminal shows if a response is late.
import { expect, onTestFinished, test, vi } from 'vitest'
import { Arguments } from '../src/command-line.ts'
import { lateNotice } from '../src/output/late-notice.ts'

test('a terminal shows after three seconds that the command waits', () => {
  vi.useFakeTimers()
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const { isTTY } = process.stderr
  onTestFinished(() => {
    process.stderr.isTTY = isTTY
    vi.restoreAllMocks()
    vi.useRealTimers()
  })
  const args = new Arguments([], new Map([['timeout', ['7']]]))
  for (const [isTerminal, isDisposed, lines] of [
    [true, false, 1],
    [true, true, 0],
    [false, false, 0],
  ] as const) {
    process.stderr.isTTY = isTerminal
    write.mockClear()
    const notice = lateNotice(args)
    vi.advanceTimersByTime(2999)
    expect(write).not.toHaveBeenCalled()
    if (isDisposed) notice[Symbol.dispose]()
    vi.advanceTimersByTime(60_000)
    expect(write).toHaveBeenCalledTimes(lines)
    if (lines === 1)
      expect(write).toHaveBeenCalledWith(
        'politely: no response yet; --timeout limits the wait (now 7 s for one robots.txt)\n',
      )
  }
})
