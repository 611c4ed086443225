import { mcpError } from '../../errors/error.ts'
import { BAD_OPTION } from '../../errors/base.ts'

/** How much of our environment a server process inherits: nothing, the harmless essentials, or everything. */
export type Inherit = 'none' | 'safe' | 'all'

export interface EnvironmentOptions {
  readonly inherit: Inherit
  /** Additional variables; undefined removes one. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Our own environment. */
  readonly own: Readonly<Record<string, string | undefined>>
  readonly platform: NodeJS.Platform
}

export interface Environment {
  readonly variables: Record<string, string>
  /** Requested variables that were omitted because they make programs load code. */
  readonly left: readonly string[]
}

/**
 * The environment of a server process. Variables that make programs load foreign code are never inherited; those
 * requested by name are set only with `inherit: 'all'`.
 */
export function toEnvironment({ inherit, env, own, platform }: EnvironmentOptions): Environment {
  const windows = platform === 'win32'
  const found = new Map<string, readonly [name: string, value: string]>()
  const left: string[] = []
  const keyOf = (name: string): string => (windows ? name.toUpperCase() : name)

  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && mayInherit(name, value, inherit, windows))
      found.set(keyOf(name), [name, value])
  }
  for (const [name, value] of Object.entries(env)) {
    checkVariable(name, value)
    found.delete(keyOf(name))
    if (value === undefined) continue
    if (inherit !== 'all' && LOADING.test(name)) left.push(name)
    else found.set(keyOf(name), [name, value])
  }
  return { variables: Object.assign(Object.create(null), Object.fromEntries(found.values())), left }
}

const SAFE = new Set(
  'PATH HOME USER LOGNAME LANG LANGUAGE TERM TMPDIR SHELL TZ XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_RUNTIME_DIR'.split(
    ' ',
  ),
)
const SAFE_WINDOWS = new Set(
  (
    'PATH PATHEXT SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC TEMP TMP USERPROFILE USERNAME USERDOMAIN HOMEDRIVE HOMEPATH APPDATA ' +
    'LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 COMMONPROGRAMFILES COMPUTERNAME ' +
    'NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE OS LANG TZ'
  ).split(' '),
)
const LOADING =
  /^(?:NODE_OPTIONS|NODE_CHANNEL_FD|LD_.*|DYLD_.*|BASH_ENV|ENV|BASH_FUNC_.*|PERL5OPT|PERL5DB|RUBYOPT|PYTHONSTARTUP|PYTHONHOME|_?JAVA_(?:TOOL_)?OPTIONS|JDK_JAVA_OPTIONS|GCONV_PATH|COR_PROFILER.*|CORECLR_.*|DOTNET_STARTUP_HOOKS)$/i

function mayInherit(name: string, value: string, inherit: Inherit, windows: boolean): boolean {
  if (inherit === 'none' || LOADING.test(name)) return false
  // A vulnerable shell would define this as a function.
  if (value.startsWith('() {')) return false
  if (inherit === 'all') return true
  return windows ? SAFE_WINDOWS.has(name.toUpperCase()) : SAFE.has(name) || name.startsWith('LC_')
}

function checkVariable(name: string, value: unknown): void {
  const where = `env ${JSON.stringify(name.slice(0, 64))}`
  if (name === '' || /[=\0]/.test(name))
    throw mcpError(BAD_OPTION, { where, reason: 'a name must not be empty or contain "=" or NUL' })
  if (value !== undefined && (typeof value !== 'string' || value.includes('\0')))
    throw mcpError(BAD_OPTION, { where, reason: 'a value must be a string without NUL' })
}
