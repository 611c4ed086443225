import { expect, test } from 'vitest'
import { sizeProblem, validateMessageSize } from './message-size.ts'

const MB = 1_048_576

test.each([
  ['stdio', 10],
  ['tcp', 100],
  ['unix', 100],
  ['http', 50],
  ['ws', 50],
  ['sse', 10],
  ['memory', 16],
] as const)(
  'over %s a message may have %d MB, and not a byte more [S2-1.6-1] [S2-1.6-2] [S2-1.6-3] [S2-1.6-4] [S2-1.6-5] [S2-1.6-7] [S2-11.4-1] [S2-1.6-6] [S2-11.4-5]',
  (transport, megabytes) => {
    for (const size of [0, megabytes * MB]) validateMessageSize(transport, size)
    expect(() => validateMessageSize(transport, megabytes * MB + 1)).toThrow(
      expect.objectContaining({
        kind: 'too_large',
        message: `the message is larger than ${megabytes * MB} bytes`,
      }),
    )
    expect(() => validateMessageSize(transport, 4_194_305, 'strict')).toThrow('larger than 4194304 bytes')
    validateMessageSize(transport, 2 ** 40, {
      stdioBytes: Infinity,
      tcpBytes: Infinity,
      httpBytes: Infinity,
      wsBytes: Infinity,
      sseBytes: Infinity,
      memoryBytes: Infinity,
    })
  },
)

test('text counts as the bytes that it becomes, bytes as they are, and in memory characters count', () => {
  const limits = { stdioBytes: 10, memoryBytes: 10 }
  for (const message of ['x'.repeat(10), 'éé éé', '🚢🚢', new Uint8Array(10), 10])
    validateMessageSize('stdio', message, limits)
  for (const message of ['x'.repeat(11), 'éé éé é', '🚢🚢🚢', new Uint8Array(11), 11])
    expect(() => validateMessageSize('stdio', message, limits)).toThrow('larger than 10 bytes')
  validateMessageSize('memory', 'éééééééééé', limits)
  expect(() => validateMessageSize('memory', 'ééééééééééé', limits)).toThrow('larger than 10')
})

test('a transport that does not exist is refused with those that do', () => {
  expect(() => validateMessageSize('pigeon' as never, '')).toThrow(
    '"pigeon" is not one of stdio, tcp, unix, http, ws, sse, memory',
  )
  expect(sizeProblem(5, 5)).toBeUndefined()
})
