// The playground. The page playground.astro loads this module and has an empty element for it.

import { parseRobots } from '@politely/core'

const mount = document.querySelector('#playground')
if (mount)
  mount.textContent = parseRobots('User-agent: *\nDisallow: /').isAllowed('/', 'ExampleBot') ? 'allowed' : 'disallowed'
