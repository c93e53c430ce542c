/**
 * Installs the packages of a project.
 */
import { spawn } from 'node:child_process'

/** The names of the package managers that are recognized. */
const managers = ['npm', 'pnpm', 'yarn', 'bun'] as const

/**
 * Returns the command that installs packages with the package manager that started this program.
 *
 * @param userAgent The variable `npm_config_user_agent`, such as `pnpm/10.0.0 npm/? node/v24.0.0`.
 * @see https://docs.npmjs.com/cli/using-npm/config#user-agent
 */
export function installCommand(userAgent: string | undefined): string {
  const manager = managers.find((name) => userAgent?.startsWith(`${name}/`))
  return `${manager ?? 'npm'} install`
}

/** Runs a command in a folder, and shows its output on the terminal. Resolves with whether it succeeded. */
export function installPackages(command: string, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    // On Windows, package managers are scripts, which only a shell can start
    const child = spawn(command, {
      cwd: path,
      shell: true,
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0))
  })
}
