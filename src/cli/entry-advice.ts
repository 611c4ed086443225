import { nearest } from '../base/nearest.ts'
import { isUrl, parseUrl } from '../protocol/url.ts'
import { suggestion } from './arranged-line.ts'
import { entryUrl, type Members } from './config-entry.ts'
import { isSecretName } from './redaction.ts'

/** What could be better, and how. */
type Advice = readonly [problem: string, fix: string]

/** Members that every client reads. */
const USUAL: readonly string[] = ['command', 'args', 'env', 'cwd', 'url', 'headers']

/** Members that some clients read besides these. */
const OTHERS: ReadonlySet<string> = new Set(
  (
    'type transport serverUrl httpUrl name description title icon version disabled enabled timeout ' +
    'trust envFile dev sandbox sandboxEnabled gallery alwaysAllow autoApprove allowedTools ' +
    'includeTools excludeTools disabledTools tools oauth auth authProviderType headersHelper source ' +
    'settings tcp initTimeout'
  ).split(' '),
)

/** Members of an entry that no client reads, as after a slip of the pen. */
export function unknownMembers(entry: Members): readonly Advice[] {
  return Object.keys(entry)
    .filter((name) => !USUAL.includes(name) && !OTHERS.has(name) && !/^(?:[$_]|x-|\/\/)/.test(name))
    .map((name) => [
      `has "${name.slice(0, 80)}", which clients do not know${suggestion(nearest(name, USUAL))}`,
      `Remove it, or correct its name: ${USUAL.join(', ')}.`,
    ])
}

/** What is said about credentials in the URL of an entry: URLs are shown and logged, and the file is easily shared. */
export function urlAdvice(entry: Members): readonly Advice[] {
  const text = entryUrl(entry)
  if (typeof text !== 'string' || !isUrl(text)) return []
  const { username, password, searchParams } = parseUrl(text)
  const header = 'Pass it in a header instead: "headers": { "Authorization": "Bearer ${env:NAME}" }.'
  const names = [...searchParams].filter(
    ([name, value]) => value !== '' && isSecretName(name) && !value.includes('${'),
  )
  return [
    ...(username === '' && password === ''
      ? []
      : [['has a user or a password in its URL, which many clients reject', header] as const]),
    ...names.map(([name]) => [`seems to have a secret in its URL ("${name.slice(0, 80)}")`, header] as const),
  ]
}
