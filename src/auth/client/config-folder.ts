import { posix, win32 } from 'node:path'

/**
 * The folder for what this package stores for a user, by the conventions of the platform; undefined if nothing says where it is. On
 * Windows it is the one that does not follow the user to other machines: credentials should not.
 */
export function configFolder(
  platform: NodeJS.Platform,
  env: Readonly<Record<string, string | undefined>>,
  home: string,
): string | undefined {
  const path = platform === 'win32' ? win32 : posix
  const variable = VARIABLES.get(platform)
  const chosen = variable === null ? undefined : env[variable ?? 'XDG_CONFIG_HOME']
  // A relative path would depend on where the program was started.
  if (chosen !== undefined && path.isAbsolute(chosen)) return path.join(chosen, NAME)
  return path.isAbsolute(home) ? path.join(home, ...(FOLDERS.get(platform) ?? ['.config']), NAME) : undefined
}

const NAME = 'pierhead'

/** The environment variable with the folder for all programs, where it is not that of the XDG specification. */
const VARIABLES: ReadonlyMap<NodeJS.Platform, string | null> = new Map([
  ['darwin', null],
  ['win32', 'LOCALAPPDATA'],
])

/** That folder within the home folder, where it is not `.config`. */
const FOLDERS: ReadonlyMap<NodeJS.Platform, readonly string[]> = new Map([
  ['darwin', ['Library', 'Application Support']],
  ['win32', ['AppData', 'Local']],
])
