import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { createServer } from 'pierhead'
import { McpError } from 'pierhead/client'
import type * as Stores from 'pierhead/stores'
import { Failure } from './failure.ts'
import { foreignPackage, type Surroundings } from './project-files.ts'
import { packageFolder } from './scaffold.ts'

/** What the command needs to look into a store. */
export interface StoreModules {
  readonly createServer: typeof createServer
  readonly stores: typeof Stores
}

/** The modules of the copy of this package that a project has, which finds packages such as `pg` there; those of this copy if it has none, or one of another user. */
export async function storeModules({ cwd, env }: Surroundings): Promise<StoreModules> {
  const [main, stores] = [urlIn(cwd, env, 'pierhead'), urlIn(cwd, env, 'pierhead/stores')]
  if (main === undefined || stores === undefined)
    return { createServer: (await import('pierhead')).createServer, stores: await import('pierhead/stores') }
  const other = (await import(main)) as Pick<StoreModules, 'createServer'>
  return { createServer: other.createServer, stores: (await import(stores)) as typeof Stores }
}

/** An error of another copy of this package as one of this copy. */
export function ownError(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || thrown instanceof McpError || thrown instanceof Failure) return thrown
  const { kind, hint } = thrown as Partial<McpError>
  if (typeof kind !== 'string' || typeof hint !== 'string') return thrown
  return new McpError(kind, thrown.message, { hint, cause: thrown })
}

/** The URL of a module in another copy of this package; undefined if the project has none. */
function urlIn(cwd: string, env: Surroundings['env'], name: string): string | undefined {
  try {
    const source = join(cwd, 'any.js')
    const path = realpathSync(createRequire(source).resolve(name))
    if (foreignPackage('pierhead', path, { source, env }) !== undefined) return undefined
    return path.startsWith(realpathSync(packageFolder()) + sep) ? undefined : pathToFileURL(path).href
  } catch {
    return undefined
  }
}
