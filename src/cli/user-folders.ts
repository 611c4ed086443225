import { join, posix, win32 } from 'node:path'
import type { Io } from './io.ts'

/** The folders of a user in which programs keep settings; undefined if the environment does not name them. */
export interface UserFolders {
  readonly home: string | undefined
  /** The folder for the settings of all programs, such as `~/.config`. */
  readonly settings: string | undefined
  /** The same for what stays on this machine, such as credentials. It is another one on Windows only. */
  readonly local: string | undefined
}

/** The folders of the user whose environment this is, by the conventions of the platform. */
export function userFolders(env: Io['env'], platform: NodeJS.Platform = process.platform): UserFolders {
  const path = platform === 'win32' ? win32 : posix
  // A relative path would depend on where the command is run.
  const named = (name: string): string | undefined => {
    const folder = env[name]
    return folder !== undefined && path.isAbsolute(folder) ? folder : undefined
  }
  const home = named(platform === 'win32' ? 'USERPROFILE' : 'HOME')
  const below = (...names: string[]): string | undefined => home && path.join(home, ...names)
  if (platform === 'win32')
    return {
      home,
      settings: named('APPDATA') ?? below('AppData', 'Roaming'),
      local: named('LOCALAPPDATA') ?? below('AppData', 'Local'),
    }
  const settings =
    platform === 'darwin'
      ? below('Library', 'Application Support')
      : (named('XDG_CONFIG_HOME') ?? below('.config'))
  return { home, settings, local: settings }
}

/** The file with the logins of the user, the same that `fileVault()` uses; undefined if there is no home folder. */
export function loginFile(env: Io['env']): string | undefined {
  const { local } = userFolders(env)
  return local && join(local, 'pierhead', 'credentials.json')
}
