// Packages that only the users of some commands install.
import { isPolitelyError } from '@politely/core'
import { loadOptional } from '@politely/core/flags'
import { UsageError } from '../exit-code.ts'

/**
 * Runs code with a package.
 * @param load Imports the package. A bundler has to see the name in its `import`.
 * @param what The command, for the message of an error.
 * @throws {UsageError} if the package is not installed, and instead of its errors.
 */
export async function withPackage<M, T>(
  name: string,
  load: () => Promise<M>,
  what: string,
  use: (module: M) => Promise<T>,
): Promise<T> {
  const missing = `${name} is not installed next to politely; write npm install ${name} (with --global if politely is global)`
  const module = await loadOptional(name, load, () => new UsageError(missing))
  try {
    return await use(module)
  } catch (error) {
    // The package has its own copies of the classes of errors.
    if (!isPolitelyError(error)) throw error
    const code = error.code === 'ERR_POLITELY_OPTION' ? '' : ` (${error.code})`
    throw new UsageError(`${what}: ${error.message}${code}`)
  }
}
