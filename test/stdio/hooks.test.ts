import { expect, test } from 'vitest'
import { call } from '../http/messages.ts'
import { opened, type Child } from './child.ts'

/** What the hooks have said, in order. */
const said = ({ stderr }: Child): readonly string[] => stderr.match(/^(?:start|stopp)(?:ed|ing)$/gm) ?? []

const ALL = ['starting', 'started', 'stopping', 'stopped']

test.each([
  ['the end of its input', [], (child: Child) => void child.process.stdin.end()],
  ['a signal', [], (child: Child) => void child.process.kill('SIGTERM')],
  [
    'a signal, with a client in the same process',
    ['inner'],
    (child: Child) => void child.process.kill('SIGTERM'),
  ],
  ['a signal, beside other transports', ['beside'], (child: Child) => void child.process.kill('SIGINT')],
])(
  'onStart runs before the first answer, and onStop before %s ends the process; their output stays away from stdout',
  async (_, flags, end) => {
    const child = await opened(['hooks', ...flags])
    await child.until(({ stderr }) => stderr.includes('listening'))
    expect(said(child)).toEqual(ALL.slice(0, 2))
    child.send(call('slow', { count: 50 }, 2), call('slow', { count: 0 }, 3))
    await child.reply(3)
    end(child)
    expect(await child.exited).toBe(0)
    expect(said(child)).toEqual(ALL)
    expect([child.messages.map(({ id }) => id), child.rest]).toEqual([[1, 3, 2], ''])
  },
)

test('a second signal exits while onStop runs', async () => {
  const child = await opened(['hooks', 'stuck'])
  await child.until(({ stderr }) => stderr.includes('listening'))
  child.process.kill('SIGTERM')
  await child.until(({ stderr }) => stderr.includes('stopped'))
  child.process.kill('SIGTERM')
  expect(await child.exited).toBe(143)
})

test.each([
  ['a signal', (child: Child) => void child.process.kill('SIGTERM')],
  ['the end of its input', (child: Child) => void child.process.stdin.end()],
])('with two servers in a process, %s ends it once both have stopped', async (_, end) => {
  const child = await opened(['hooks', 'second'])
  await child.until(({ stderr }) => stderr.includes('listening'))
  end(child)
  expect(await child.exited).toBe(0)
  expect(said(child)).toEqual(ALL)
  expect(child.stderr.match(/^second \w+$/gm)).toEqual(['second stopping', 'second stopped'])
})
