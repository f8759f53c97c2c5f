// All calendars agree, and no text is read in part.
import { expect, it } from 'vitest'
import { parseLastmod } from '../src/index.ts'

const DAY_MS = 86_400_000
const two = (n: number) => String(n).padStart(2, '0')

it('reads each day in every form of ISO 8601', () => {
  for (let ms = Date.UTC(1999, 11, 20); ms < Date.UTC(2031, 0, 10); ms += DAY_MS) {
    const date = new Date(ms)
    const [year, month, day] = [date.getUTCFullYear(), two(date.getUTCMonth() + 1), two(date.getUTCDate())]
    const ofYear = String((ms - Date.UTC(year, 0, 1)) / DAY_MS + 1).padStart(3, '0')
    const weekday = ((date.getUTCDay() + 6) % 7) + 1
    const thursday = new Date(ms + (4 - weekday) * DAY_MS)
    const weekYear = thursday.getUTCFullYear()
    const week = two(Math.floor((thursday.getTime() - Date.UTC(weekYear, 0, 1)) / (7 * DAY_MS)) + 1)
    const forms = [
      `${year}-${month}-${day}`,
      `${year}${month}${day}`,
      `${year}-${ofYear}`,
      `${year}${ofYear}`,
      `${weekYear}-W${week}-${weekday}`,
      `${weekYear}W${week}${weekday}`,
      date.toUTCString(),
      date.toISOString(),
    ]
    for (const form of forms) if (parseLastmod(form) !== ms) expect.fail(`${form} is read as ${parseLastmod(form)}`)
  }
})

it('refuses every form with more behind it', () => {
  const forms = ['2026', '2026-03', '2026-03-04', '20260304', '2026-W10-3', '2026-063', '1772582400', '4 Mar 2026']
  for (const form of forms) {
    expect(parseLastmod(form), form).toBeTypeOf('number')
    for (const more of ['99', '-99', '.5x', 'x', ' x', ':', 'T', 'T25', ' 25:00', ' 05:60', 'W1', ' 99'])
      expect(parseLastmod(form + more), form + more).toBe(undefined)
  }
})
