import { metaKeyProblem } from '../../../src/protocol/meta.ts'
import { printable } from '../../../src/errors/printable.ts'
import { claim, target, type Target } from '../fuzz.ts'
import { mutateText } from '../mutate.ts'
import { anyText, HIDDEN } from '../values.ts'

const KEYS = [
  'progressToken',
  'io.modelcontextprotocol/serverInfo',
  'dev.mcp/x',
  'example.com/tides',
  'a.b.c/d_e.f-g',
  'mcp/x',
  'com.mcp.tools/',
  '/x',
  'a/',
  'x',
]

/** The rules for keys of metadata, written a second time letter by letter, say the same; what is shown on a terminal does nothing to it. */
export const metaTarget: Target = target<string>({
  name: 'meta',
  share: 4,
  make: (random) =>
    random.oneIn(4)
      ? anyText(random)
      : mutateText(random.pick(KEYS), random, [
          '/',
          '.',
          '-',
          '_',
          'mcp',
          'modelcontextprotocol',
          '0',
          'é',
          ' ',
        ]),
  check(key) {
    claim(
      (metaKeyProblem(key) === undefined) === isFree(key),
      `"${key}" is judged wrongly: ${metaKeyProblem(key)}`,
    )
    claim(!HIDDEN.test(printable(key)), 'a control character is printed')
  },
})

function isFree(key: string): boolean {
  const slash = key.indexOf('/')
  const name = slash < 0 ? key : key.slice(slash + 1)
  if (!fits(name, '-_.', '0123456789', name.length === 0)) return false
  if (slash < 0) return true
  const labels = key.slice(0, slash).split('.')
  if (!labels.every((label) => fits(label, '-', '', false))) return false
  return labels[1] !== 'mcp' && labels[1] !== 'modelcontextprotocol'
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'

function fits(text: string, inside: string, start: string, empty: boolean): boolean {
  if (text === '') return empty
  const letters = text.split('')
  return letters.every((letter, at) => {
    if (at === 0) return (LETTERS + start).includes(letter)
    const end = `${LETTERS}0123456789`
    return at === letters.length - 1 ? end.includes(letter) : (end + inside).includes(letter)
  })
}
