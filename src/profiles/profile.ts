import type { Some } from '../base/some.ts'
import { mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'
import { checkNames } from '../base/options.ts'
import { LATEST, REVISIONS, type Revision } from '../protocol/revisions.ts'
import { CHOICES, type ChoiceRow, type Choices } from '../protocol/choices.ts'
import { DIALECTS, type Dialect, type Dialects } from '../protocol/switches.ts'
import type { Call } from '../rpc/call.ts'
import type { Handler, MiddlewareEntry } from '../rpc/dispatch.ts'
import { checksOf, type Asked, type Checks } from './checks.ts'
import { fetchOf } from './erlmcp/http-status.ts'
import type { Fetch } from './error-reply.ts'
import { adapterOf } from './adapter.ts'
import { routesOf, type Route } from './routes.ts'
import { timeoutsOf, type Timeouts } from './timeouts.ts'

/** The part of a server that a profile uses. */
interface Host<Context> {
  readonly methods: { set(method: string, handler: Handler<Context>): unknown }
  readonly middleware: { push(...entries: readonly MiddlewareEntry<Asked>[]): unknown }
}

const ROWS = Object.entries<ChoiceRow>(CHOICES)

/**
 * A value for each choice in how to speak the protocol. Pass it to `createServer` and `connect`. Make your own from `official`
 * or `erlmcp`: `official.with({ batch: 'always' })`.
 */
export class Profile {
  /** The value of every choice. */
  readonly choices: Choices
  /**
   * The dialect of each revision.
   * @internal
   */
  readonly dialects: Dialects
  /**
   * Additional methods of a server.
   * @internal
   */
  readonly routes: ReadonlyMap<string, Route>
  /**
   * The default timeouts of a client.
   * @internal
   */
  readonly timeouts: Timeouts | undefined
  /**
   * Replaces the way a client reads HTTP replies.
   * @internal
   */
  readonly wrapFetch: ((fetch: Fetch) => Fetch) | undefined
  readonly #checks: readonly Checks[]

  /** A profile with a value for every choice; `with` needs only those that differ. */
  constructor(choices: Choices) {
    this.choices = Object.freeze(choices)
    this.dialects = toDialects(choices)
    this.routes = routesOf(choices)
    this.timeouts = timeoutsOf(choices)
    this.wrapFetch = fetchOf(choices)
    this.#checks = checksOf(choices)
  }

  /**
   * Adds the profile's methods and checks to a server.
   * @internal
   */
  install<Context>(server: Host<Context>, callOf: (context: Context) => Call): void {
    for (const [method, route] of this.routes) server.methods.set(method, (context) => route(callOf(context)))
    server.middleware.push(...this.#checks.map(({ middleware }) => middleware))
  }

  /**
   * Throws if the definition of a tool is not allowed.
   * @internal
   */
  checkTool(name: string, spec: { readonly description?: string | undefined }): void {
    for (const checks of this.#checks) checks.checkTool?.(name, spec)
  }

  /**
   * The dialects, if the profile changes the form of messages.
   * @internal
   */
  get spoken(): Dialects | undefined {
    return this.dialects['2025-11-25'].adapter === undefined ? undefined : this.dialects
  }

  /** The same profile with some choices changed. */
  with(changes: Some<Choices>): Profile {
    checkNames('profile', changes, Object.keys(CHOICES))
    const given = Object.entries(changes).filter(([, value]) => value !== undefined)
    for (const [name, value] of given) checkValue(name, value)
    return new Profile({ ...this.choices, ...(Object.fromEntries(given) as Partial<Choices>) })
  }
}

function checkValue(name: string, value: unknown): void {
  const { values }: ChoiceRow = CHOICES[name as keyof Choices]
  if (values.includes(value as string)) return
  const known = values.map((one) => JSON.stringify(one)).join(', ')
  const reason = `${name} must be one of ${known}, not ${JSON.stringify(value)}`
  throw mcpError(BAD_OPTION, { where: 'profile', reason })
}

function toDialects(choices: Choices): Dialects {
  const rows = REVISIONS.map((revision) => [revision, toDialect(revision, choices)])
  return Object.freeze(Object.fromEntries(rows)) as Dialects
}

/** Names and numbers cannot be changed at the newest revision; only choices about behaviour apply there. */
function toDialect(revision: Revision, choices: Choices): Dialect {
  const adapter = revision === LATEST ? undefined : adapterOf(choices, revision)
  const chosen = ROWS.flatMap(([name, { values, reader }]) => {
    const value = choices[name as keyof Choices]
    return value === values[0] || reader.startsWith('profiles/') ? [] : [[name, value]]
  })
  return Object.freeze({ ...DIALECTS[revision], ...Object.fromEntries(chosen), adapter }) as Dialect
}
