import { once } from 'node:events'
import { expect, test } from 'vitest'
import { runProgram } from '../mounts/run-program.ts'
import { isAlive } from './alive.ts'
import { program, until } from './open.ts'

/** The pids of two programs that a process under Deno started, and that process, which is about to end in some way. */
async function start(
  way: string,
): Promise<{ readonly pids: readonly number[]; readonly exit: Promise<unknown> }> {
  const child = runProgram('deno', new URL('deno-parent.ts', import.meta.url), way, program('stubborn.mjs'))
  const exit = once(child, 'exit')
  const [bytes] = (await once(child.stdout, 'data')) as [Buffer]
  const pids = JSON.parse(bytes.toString()) as number[]
  expect(pids.filter(isAlive)).toHaveLength(2)
  child.stdin.write('now')
  return { pids, exit }
}

test.each(['throw', 'reject'])('under Deno, programs end with a process that fails: %s', async (way) => {
  const { pids, exit } = await start(way)
  expect(await exit).toEqual([1, null])
  await until(() => !pids.some(isAlive))
})

test.each(['throw-handled', 'throw-listened', 'reject-handled'])(
  'under Deno, programs stay when the process handles the error: %s',
  async (way) => {
    const { pids, exit } = await start(way)
    // The process says by its code how many of its programs still answered after the error.
    expect(await exit).toEqual([2, null])
    await until(() => !pids.some(isAlive))
  },
)
