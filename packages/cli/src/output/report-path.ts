// The names of files in reports for GitHub and GitLab.
import { isAbsolute, relative, resolve, sep } from 'node:path'

/**
 * Returns the path of a file from the root of the repository, with `/` between its parts. Returns
 * the absolute path of a file outside of the repository.
 */
export function reportPath(file: string): string {
  const path = relative(repositoryFolder(), resolve(file))
  const isOutside = /^\.\.(?:[/\\]|$)/.test(path) || isAbsolute(path)
  return (isOutside ? resolve(file) : path).split(sep).join('/')
}

/** A job may run in a folder of the repository. Elsewhere it is the current folder. */
function repositoryFolder(): string {
  return process.env.GITHUB_WORKSPACE || process.env.CI_PROJECT_DIR || process.cwd()
}
