// Test cases that every pacer must pass that has `admit` and `settle`: scripts of pacer-script.ts. The
// request `robots` is a request for robots.txt.
import { casesOf, type PacerCase } from './pacer-cases.ts'

/** Three requests fail, and the circuit opens for a minute. */
const opening = 'settle a failure closed 1 | settle a failure closed 2 | settle a failure open 1 60000'

/** What every pacer with `admit` and `settle` must do. */
export const circuitCases: readonly PacerCase[] = casesOf({
  'opens after three failures in a row, for this origin only': `admit a closed 0 | settle a failure closed 1 | settle a success closed 0 | ${opening} | +20000 | admit b open 1 40000 refused | admit c@b closed 0 | settle d failure open 1 40000`,
  'admits one probe, and is closed by its success': `${opening} | +60000 | admit b probe | admit c no-probe | settle b success closed 0 | admit c closed 0`,
  'opens for twice the time after each probe that fails, up to the limit': `${opening} | +60000 | admit b probe | settle b failure open 2 120000 | +120000 | admit c probe | settle c failure open 3 200000`,
  'opens for as long as the site asks, if that is longer': `${opening} | +60000 | admit b probe | settle b failure,500000 open 2 500000`,
  'admits another probe after an aborted one, and two minutes after a lost one': `${opening} | +60000 | admit b probe | settle b unknown any | admit c probe | +119999 | admit d no-probe | +1 | admit d probe | settle c failure no-probe | settle d failure open 2 120000`,
  'is closed by the success of a request that started before': `${opening} | +1000 | settle x success closed 0 | admit b closed 0`,
  'counts an attempt to fetch robots.txt once, whatever number of workers tell it':
    'settle robots failure,60000 closed 1 | +100 | settle robots failure,59900 closed 1 | settle a failure closed 2 | +59900 | settle robots failure open 1 60000',
  'takes a failed attempt to fetch robots.txt for the probe': `${opening} | settle robots failure,90000 open 1 90000 | +90000 | settle robots failure open 2 120000`,
  'forgets failures that are as old as the limit':
    'settle a failure closed 1 | settle a failure closed 2 | +200000 | admit b closed 0 | settle b failure closed 1',
})
