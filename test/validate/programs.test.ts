import { expect, test } from 'vitest'
import { programDoor } from '../../src/validate/door.ts'
import { Trace } from '../../src/validate/trace.ts'

/** A program that says which process it is, and ends with its input. */
const SAYS_PID = 'console.log(JSON.stringify({ pid: process.pid })); process.stdin.resume()'

test('connections that are opened at the same time have a program each', async () => {
  const door = programDoor({ command: process.execPath, args: ['-e', SAYS_PID] })
  try {
    // From the second connection on, a program waits for it.
    await (await door.open(new Trace(), 20_000)).close()
    const wires = await Promise.all([1, 2, 3].map(() => door.open(new Trace(), 20_000)))
    const said = await Promise.all(wires.map((wire) => wire.wait(() => true, { ms: 20_000 })))
    const pids = said.map((one) => one?.messages[0]?.['pid'])
    expect(new Set(pids).size).toBe(3)
    expect(pids).not.toContain(undefined)
    await Promise.all(wires.map((wire) => wire.close()))
  } finally {
    await door.close?.()
  }
})
