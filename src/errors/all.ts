import * as auth from './auth.ts'
import { CUSTOM } from './custom.ts'
import { knowErrors } from './error.ts'
import * as http from './http.ts'
import * as keys from './keys.ts'
import * as limits from './limits.ts'
import * as login from './login.ts'
import * as profiles from './profiles.ts'
import type { ErrorRow } from './row.ts'
import * as server from './server.ts'
import * as tasks from './tasks.ts'

/** Every error, by kind. Once asked for, all of them can be named by kind. */
export function allErrors(): ReadonlyMap<string, ErrorRow> {
  const modules = [server, limits, http, auth, keys, login, profiles, tasks]
  return knowErrors([CUSTOM, ...modules.flatMap((module) => Object.values<ErrorRow>(module))])
}
