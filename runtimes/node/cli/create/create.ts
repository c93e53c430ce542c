/**
 * `npm create edgewise@latest`: creates a project, installs its packages, and adds the project's server to hosts.
 */
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import type { Target } from '../arguments.ts'
import { ConfigurationError } from '../hosts/configuration-file.ts'
import { hostNames } from '../hosts/host-names.ts'
import { requireHosts, type Machine } from '../hosts/host.ts'
import { moduleProgram } from '../hosts/module-program.ts'
import { addToHosts } from '../install.ts'
import { oneLine, print, printNotice } from '../print.ts'
import { createProject, resolveNewFolder, requireTemplate } from '../project.ts'
import { templateNames, templates, type TemplateServer } from '../templates.ts'
import { requireNoArguments, UsageError } from '../usage.ts'
import { installCommand } from './packages.ts'

/** What the program needs from the process that runs it. */
export interface CreateEnvironment {
  readonly machine: Machine
  /** The folder that contains the templates. */
  readonly templatesFolder: URL
  /**
   * Asks the user a question, and resolves with `undefined` if the user cancels. Absent if there is
   * no terminal.
   */
  readonly ask: ((question: string) => Promise<string | undefined>) | undefined
  /** Runs the command that installs the packages of a project, and returns whether it succeeded. */
  readonly installPackages: (command: string, path: string) => Promise<boolean>
}

/** The exit status of a program that the user interrupted. */
const CANCELLED = 130

const usage = `Usage: npm create edgewise@latest [template] [folder] [-- options]

Creates a project for MCP, and installs its packages

Templates
${Object.entries(templates)
  .map(([name, { meaning }]) => `  ${name.padEnd(20)} ${meaning}`)
  .join('\n')}

Options
  --client <host>      also add the server to the configuration of a host; may be repeated:
                       ${hostNames.join(', ')}
  --no-install         do not install packages
  --help               print this help

Example
  npm create edgewise@latest node my-server -- --client cursor
`

/**
 * Runs the command line of `create-edgewise`.
 *
 * @returns The exit status: 0 for success, 1 if a step failed, 2 for wrong usage, 130 if the user has
 *   cancelled.
 */
export async function runCreate(
  argv: readonly string[],
  environment: CreateEnvironment,
): Promise<number> {
  try {
    return await create(argv, environment)
  } catch (error) {
    if (error instanceof UsageError) {
      printNotice(`${error.message}. See npm create edgewise@latest -- --help`)
      return 2
    }
    const isSystemError = error instanceof Error && 'syscall' in error
    if (!isSystemError && !(error instanceof ConfigurationError)) throw error
    printNotice(error.message)
    return 1
  }
}

/** Creates a project, installs its packages, adds the project's server to hosts, and prints the next steps. */
async function create(argv: readonly string[], environment: CreateEnvironment): Promise<number> {
  const { machine, templatesFolder, ask, installPackages } = environment
  const { values, positionals } = parse(argv)
  if (values.help) {
    print(usage.trim())
    return 0
  }
  const [givenTemplate, givenFolder, ...others] = positionals
  requireNoArguments(others)
  const clients = values.client.length > 0 ? requireHosts(values.client) : []

  const templateName = givenTemplate ?? (await ask?.(`Template (${templateNames}): `))
  if (templateName === undefined && ask) return CANCELLED
  const template = requireTemplate(templateName?.trim())
  const { server, needsPackages } = templates[template]
  if (clients.length > 0 && !server) {
    throw new UsageError(`"--client" has no effect with "${template}", which has no server`)
  }
  const folder = givenFolder ?? (await ask?.('Folder: '))
  if (folder === undefined && ask) return CANCELLED
  const path = await resolveNewFolder(folder?.trim(), machine.cwd)

  const { name } = await createProject(template, path, templatesFolder)
  print(`Created "${name}" in ${oneLine(path)}`)
  const command = installCommand(machine.env['npm_config_user_agent'])
  const serverName = serverNameOf(name)
  let needsInstallStep = needsPackages
  let needsAddStep = server !== undefined
  let status = 0
  if (needsPackages && !values['no-install']) {
    print(`Installing packages with "${command}"`)
    needsInstallStep = !(await installPackages(command, path))
    if (needsInstallStep) {
      printNotice(`Cannot install the packages of "${path}"`)
      status = 1
    }
  }
  if (server && clients.length > 0 && status === 0) {
    const installation = {
      target: targetOf(server, path),
      options: { ...installDefaults, clients, name: serverName },
    }
    try {
      await addToHosts(installation, { ...machine, cwd: path })
      needsAddStep = false
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error
      printNotice(error.message)
      status = 1
    }
  }
  const hosts = clients.length > 0 ? clients : ['cursor']
  const options = [`--name ${serverName}`, ...hosts.map((host) => `--client ${host}`)].join(' ')
  const steps = [
    ...changeFolderStep(relative(machine.cwd, path)),
    ...(needsInstallStep ? [command] : []),
    ...(server && 'url' in server ? ['npm start'] : []),
    ...(server && needsAddStep
      ? [`npx edgewise install ${options} ${installArguments(server)}`]
      : []),
  ]
  print(['Next steps:', ...steps].join('\n  '))
  print('README.md explains all commands')
  return status
}

/** The name under which hosts list a project's server. It starts with a letter, and has at most 64 characters. */
function serverNameOf(name: string): string {
  return /^[a-z]/.test(name) ? name : `my-${name}`.slice(0, 64)
}

/**
 * The step that changes to the project's folder. There is none if the project is in the current folder.
 */
function changeFolderStep(path: string): string[] {
  if (path === '') return []
  if (!/[^\w./\\-]/.test(path)) return [`cd ${path}`]
  // Single quotes prevent all expansion by a shell, but the command line of Windows does not support them
  const quoted = `'${path.replaceAll("'", String.raw`'\''`)}'`
  return [`cd ${/["$`!]/.test(path) ? quoted : `"${path}"`}`]
}

/** Options with which the server of a new project is added to hosts. */
const installDefaults = {
  scope: 'user',
  dryRun: false,
  force: false,
  env: {},
  cwd: undefined,
  headers: new Headers(),
} as const

/** Converts the server of a project to the form that `edgewise install` uses. */
function targetOf(server: TemplateServer, path: string): Target {
  if (!('module' in server)) return server
  const isForThisMachine = true
  const program = moduleProgram(join(path, server.module), isForThisMachine)
  if (!program) throw new TypeError(`"${server.module}" is not a module`)
  return program
}

/** The arguments of `edgewise install` that name the server of a project. */
function installArguments(server: TemplateServer): string {
  if ('module' in server) return server.module
  return 'url' in server ? server.url : `-- ${server.command} ${server.args.join(' ')}`
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        client: { type: 'string', multiple: true, default: [] as string[] },
        'no-install': { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
      allowPositionals: true,
    })
  } catch (error) {
    // Shows only the first sentence of Node's message, because the other sentences give advice that does not apply
    throw new UsageError(error instanceof Error ? (error.message.split(/\.\s/)[0] ?? '') : '')
  }
}
