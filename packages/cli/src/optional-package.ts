// Loads packages that are installed only by users of the commands that need them, so that the install
// of `politely` stays small.
import { UsageError } from './errors.ts'

/**
 * @param load Imports the package. A bundler has to see the name in its `import`.
 * @throws {UsageError} with this message if the package is not installed.
 */
export async function loadOptional<M>(name: string, load: () => Promise<M>, problem: string): Promise<M> {
  try {
    return await load()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes(`'${name}'`)) throw error
    throw new UsageError(problem)
  }
}
