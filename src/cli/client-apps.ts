import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Io } from './io.ts'
import { userFolders, type UserFolders } from './user-folders.ts'

/** An entry of a configuration, before a client has its own spelling for it. */
export type ServerEntry =
  | {
      readonly command: string
      readonly args: readonly string[]
      readonly env: Readonly<Record<string, string>>
      /** The folder in which the program starts; undefined if nobody chose one. */
      readonly cwd?: string | undefined
    }
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> }

/** An app that reads the names of servers from a file. */
export interface ClientApp {
  readonly name: string
  readonly title: string
  /** The file in a project, if the app reads one. */
  readonly project?: string
  /** The file of the user; undefined if the app has none on this platform. */
  user?(folders: UserFolders, platform: NodeJS.Platform): string | undefined
  /** The member of the file that has the servers. */
  readonly section: string
  /** Whether the app reads comments and trailing commas in the file; undefined if that is not known. */
  readonly isJsonc?: boolean
  /** The spelling of a server at a URL; undefined if the app cannot use it. */
  url?(url: string): Readonly<Record<string, string>>
  /** Members that the entry of a program needs besides its own. */
  readonly program?: Readonly<Record<string, string>>
  /** Whether the entry of a program may have the folder in which it starts, as `cwd`. */
  readonly hasFolder?: boolean
  /** How the file names an environment variable instead of its value; undefined if it cannot. */
  reference?(name: string): string
}

const inSettings =
  (...path: string[]) =>
  ({ settings }: UserFolders): string | undefined =>
    settings && join(settings, ...path)
const inHome =
  (...path: string[]) =>
  ({ home }: UserFolders): string | undefined =>
    home && join(home, ...path)
const named = (name: string): string => `\${${name}}`
const fromEnv = (name: string): string => `\${env:${name}}`

/** The apps that `install` knows. */
export const CLIENT_APPS: readonly ClientApp[] = [
  {
    name: 'claude-desktop',
    title: 'Claude Desktop',
    user: inSettings('Claude', 'claude_desktop_config.json'),
    section: 'mcpServers',
    isJsonc: false,
  },
  {
    name: 'claude-code',
    title: 'Claude Code',
    project: '.mcp.json',
    section: 'mcpServers',
    isJsonc: false,
    url: (url) => ({ type: 'http', url }),
    reference: named,
  },
  {
    name: 'cursor',
    title: 'Cursor',
    project: '.cursor/mcp.json',
    user: inHome('.cursor', 'mcp.json'),
    section: 'mcpServers',
    url: (url) => ({ url }),
    reference: fromEnv,
  },
  {
    name: 'vscode',
    title: 'VS Code',
    project: '.vscode/mcp.json',
    user: inSettings('Code', 'User', 'mcp.json'),
    section: 'servers',
    isJsonc: true,
    url: (url) => ({ type: 'http', url }),
    program: { type: 'stdio' },
    hasFolder: true,
    reference: fromEnv,
  },
  {
    name: 'windsurf',
    title: 'Windsurf',
    user: inHome('.codeium', 'windsurf', 'mcp_config.json'),
    section: 'mcpServers',
    url: (url) => ({ serverUrl: url }),
    reference: fromEnv,
  },
  {
    name: 'zed',
    title: 'Zed',
    project: '.zed/settings.json',
    // Zed uses ~/.config on macOS too.
    user: ({ home, settings }, platform) =>
      platform === 'darwin'
        ? home && join(home, '.config', 'zed', 'settings.json')
        : settings && join(settings, platform === 'win32' ? 'Zed' : 'zed', 'settings.json'),
    section: 'context_servers',
    isJsonc: true,
    url: (url) => ({ url }),
  },
  {
    name: 'gemini',
    title: 'Gemini CLI',
    project: '.gemini/settings.json',
    user: inHome('.gemini', 'settings.json'),
    section: 'mcpServers',
    url: (url) => ({ httpUrl: url }),
    hasFolder: true,
    reference: named,
  },
]

/** The file of an app: that of the project, or that of the user; undefined if it has no such file. */
export function appFile(app: ClientApp, io: Pick<Io, 'cwd' | 'env'>, isGlobal: boolean): string | undefined {
  if (!isGlobal && app.project !== undefined) return join(io.cwd, app.project)
  return app.user?.(userFolders(io.env), process.platform)
}

/** The apps that this user seems to have, by their settings, and those whose files are in the project. */
export function foundApps(io: Pick<Io, 'cwd' | 'env'>): readonly ClientApp[] {
  return CLIENT_APPS.filter((app) => {
    const user = appFile(app, io, true)
    const own = appFile(app, io, false)
    return (user !== undefined && existsSync(dirname(user))) || (own !== undefined && existsSync(own))
  })
}

/** An entry as an app spells it; undefined if it cannot use it. */
export function spelledEntry(
  app: ClientApp,
  entry: ServerEntry,
): Readonly<Record<string, unknown>> | undefined {
  if ('url' in entry) {
    const headers = Object.keys(entry.headers).length > 0 ? { headers: entry.headers } : {}
    return app.url && { ...app.url(entry.url), ...headers }
  }
  const env = Object.keys(entry.env).length > 0 ? { env: entry.env } : {}
  const folder = app.hasFolder === true && entry.cwd !== undefined ? { cwd: entry.cwd } : {}
  return { ...app.program, command: entry.command, args: entry.args, ...env, ...folder }
}
