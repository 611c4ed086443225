import type { ClientSubject } from '../client-subject.ts'
import type { LoginServer, LoginStep } from '../client/login-server.ts'
import type { Scenario } from '../client/scenario.ts'
import type { Visit } from '../client/visit.ts'
import { passed, unchecked, type Verdict } from '../rule.ts'
import { LOGIN, loginIn } from './login-scenarios.ts'
import { broken } from './verdicts.ts'

/** A visit to a protected server, and what it showed. */
export interface LoginVisit {
  readonly visit: Visit
  readonly login: LoginServer
}

const HOW_TO_LOG_IN =
  'the client does not log in. It must do so without a person: request the URL of the login page, and follow its redirect, as clients of the official suite do if MCP_CONFORMANCE_SCENARIO begins with "auth/"'

/** Checks something about a client that logs in with the usual protected server. */
export async function whenLoggedIn(
  subject: ClientSubject,
  check: (usual: LoginVisit) => Promise<Verdict> | Verdict,
): Promise<Verdict> {
  const usual = await visitTo(subject, LOGIN)
  if (usual === undefined || usual.login.all('authorize').length === 0) return unchecked(HOW_TO_LOG_IN)
  return check(usual)
}

/** Plays a scenario of a protected server; undefined if the client sent nothing. */
export async function visitTo(subject: ClientSubject, scenario: Scenario): Promise<LoginVisit | undefined> {
  const visit = await subject.visit(scenario)
  const login = loginIn(visit)
  return login && { visit, login }
}

/** A failure that shows a request of the login. */
export function wrongStep({ visit }: LoginVisit, step: Pick<LoginStep, 'at'>, found: string): Verdict {
  return broken(visit, step, found)
}

/**
 * Checks that a client which logs in with the usual protected server does not do so with another one: it must not get as far as `what`.
 * `after` is what it must have done for this to mean anything.
 */
export async function isRefused(
  subject: ClientSubject,
  scenario: Scenario,
  { after, what, found }: Readonly<Record<'after' | 'what', LoginStep['what']>> & { readonly found: string },
): Promise<Verdict> {
  return whenLoggedIn(subject, async ({ login: usual }) => {
    if (usual.all(what).length === 0) return unchecked(`the client never gets as far as that in a login`)
    const other = await visitTo(subject, scenario)
    if (other === undefined || other.login.all(after).length === 0)
      return unchecked(`the client does not begin to log in (scenario ${scenario.name})`)
    const [step] = other.login.all(what)
    return step === undefined ? passed : wrongStep(other, step, found)
  })
}

/** The first verdict that is a failure, otherwise the first one that is not passed, otherwise passed. */
export async function allOf(...checks: readonly (() => Promise<Verdict> | Verdict)[]): Promise<Verdict> {
  const verdicts: Verdict[] = []
  for (const check of checks) {
    const verdict = await check()
    if (verdict.is === 'failed') return verdict
    verdicts.push(verdict)
  }
  return verdicts.find(({ is }) => is !== 'passed') ?? passed
}
