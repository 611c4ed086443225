import { expect, test } from 'vitest'
import { isQuiet } from './quiet.ts'
import { scan } from './scan.ts'

const DEPTH = 64
const LENGTHS = [0, 1, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 200, 3000]
const ENDS = ['', '\\\\', '\\"', '\\\\\\"', '\\\\\\\\', '\\u0022', ',}]{[', 'é', '漢字', '😀']

test('a string ends where JSON ends it, however long it is and whatever it ends in', () => {
  for (const letter of ['a', 'é'])
    for (const length of LENGTHS)
      for (const end of ENDS) {
        const text = call(`"text":"${letter.repeat(length)}${end}"`)
        expect(JSON.parse(text)).toBeTypeOf('object')
        expect(isQuiet(text, DEPTH)).toBe(true)
      }
})

test('what follows a long string is read', () => {
  for (const length of LENGTHS)
    for (const end of ENDS) {
      const long = `"text":"${'a'.repeat(length)}${end}"`
      expect(scan(call(`${long},"b":1,"b":2`), DEPTH)).toEqual({ kind: 'duplicate', key: 'b' })
      expect(scan(call(`${long},"b":${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`), DEPTH)).toEqual({
        kind: 'deep',
      })
      expect(scan(call(`"list":[{${long}},[]],"b":1`), DEPTH)).toBeUndefined()
    }
})

test('a long string that does not end is left to a closer look', () => {
  for (const length of LENGTHS)
    for (const end of ['', '\\', '\\"', '\\\\\\"'])
      expect(isQuiet(`{"jsonrpc":"2.0","id":1,"params":{"text":"${'a'.repeat(length)}${end}`, DEPTH)).toBe(
        false,
      )
})

function call(members: string): string {
  return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{${members}}}}`
}
