import { isRevision } from '../../protocol/revisions.ts'
import { member } from '../message.ts'
import { E_ONLY, failed, noneOf, TRANSPORTS, unchecked, type Rule } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import { PROTOCOL_VERSION } from '../session.ts'
import { unknownVersion } from './envelope.ts'
import { initializeMessage } from './refusal.ts'

/** The first revision without initialize. */
const MODERN = '2026-07-28'
/** The most versions that are tried. */
const MOST_TRIED = 3

/** Our own check that everything that a server says about its versions is the same. */
export const VERSION_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'V048',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'server/discover and error -32022 name the same versions from 2026-07-28 on, each once, and the server supports what it names.',
    how: 'Compares both, asks server/discover with the other versions of server/discover, and sends initialize with the latest older one.',
    fix: 'Keep one list of versions, and use it for supportedVersions, for data.supported and for the check of requests.',
    async check(subject) {
      const { result } = await (await subject.shared()).request('server/discover')
      const named = result?.['supportedVersions']
      if (!Array.isArray(named)) return unchecked('server/discover returns no list of versions')
      const odd = named.find((one) => typeof one !== 'string')
      if (odd !== undefined) return failed(`supportedVersions has ${JSON.stringify(odd).slice(0, 100)}`)
      if (new Set(named).size < named.length) return failed('supportedVersions has a version twice')
      const versions = named as readonly string[]
      const supported = member((await unknownVersion(subject)).error, 'data', 'supported')
      return noneOf([...differences(versions, supported), ...(await untrueOf(subject, versions))])
    },
  },
]

/** What is only in one of the two lists. Older versions need not be in both, since they are found in another way. */
function differences(versions: readonly string[], supported: unknown): readonly string[] {
  if (!Array.isArray(supported)) return []
  const [here, there] = [versions, supported.map(String)].map((all) => all.filter((one) => one >= MODERN))
  return [
    ...(here ?? []).filter((one) => !there?.includes(one)).map((one) => `error -32022 does not name ${one}`),
    ...(there ?? []).filter((one) => !here?.includes(one)).map((one) => `only error -32022 names ${one}`),
  ].map((text) => text.slice(0, 100))
}

/** What the server names and does not support. */
async function untrueOf(subject: ServerSubject, versions: readonly string[]): Promise<readonly string[]> {
  const untrue: string[] = []
  const session = await subject.shared()
  const others = versions.filter((one) => one !== subject.revision && !isRevision(one))
  for (const version of others.slice(0, MOST_TRIED)) {
    const { error } = await session.request('server/discover', undefined, {
      meta: { [PROTOCOL_VERSION]: version },
      headers: { 'mcp-protocol-version': version },
    })
    if (error?.['code'] === -32_022)
      untrue.push(`supportedVersions has ${JSON.stringify(version).slice(0, 50)}, and it is refused`)
  }
  const older = versions.filter((one) => isRevision(one) && one < MODERN).toSorted()
  const latest = older.at(-1)
  if (latest === undefined) return untrue
  const greeting = await subject.silent()
  const { result, error } = await greeting.exchange(initializeMessage(greeting.newId(), latest), {
    headers: { 'mcp-protocol-version': undefined, 'mcp-method': undefined },
  })
  if (error !== undefined || (result !== undefined && result['protocolVersion'] !== latest))
    untrue.push(`supportedVersions has ${latest}, and initialize does not accept it`)
  return untrue
}
