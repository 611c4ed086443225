import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fileVault, type Vault } from '../../src/auth-client.ts'
import { callTool, openAuth } from './engine-server.ts'
import { expire, startWorld } from './engine-world.ts'
import { folder, startProgram } from './vault-child.ts'

/** Lets another process hold the lock of an entry until the function that it returns is called. */
async function hold(path: string, key: string): Promise<() => void> {
  const name = createHash('sha256').update(key).digest('hex').slice(0, 32)
  const program = startProgram('hold', `${path}.locks`, name)
  expect(await program.line()).toBe('held')
  return () => void program.child.stdin.end('go\n')
}

test.each(['the call is given up', 'the client closes'])(
  'nobody waits for the lock of another process any more when %s',
  async (what) => {
    const world = await startWorld()
    const path = join(mkdtempSync(join(folder, 'waiting-')), 'vault.json')
    const file = fileVault({ path })
    await world.call('who', { vault: file })
    await expire(file)
    const updates: Promise<unknown>[] = []
    const vault: Vault = {
      ...file,
      update: (...args) => {
        const update = file.update(...args)
        updates.push(update)
        return update
      },
    }
    const release = await hold(path, (await file.keys())[0] as string)
    const leaving = new AbortController()
    const client = openAuth(world.login({ vault }), world.server.url)
    const call = callTool(client, world.server.url, 'who', { signal: leaving.signal })
    call.catch(() => undefined)
    await expect.poll(() => readdirSync(`${path}.locks`)).toHaveLength(2)
    if (what === 'the client closes') client.close?.()
    else leaving.abort()
    await expect(Promise.all(updates)).rejects.toMatchObject({ name: 'AbortError' })
    expect(readdirSync(`${path}.locks`)).toHaveLength(1)
    release()
    await call.catch(() => undefined)
    // The refresh token was not used, so the next call can.
    expect(await world.call('who', { vault: file })).toBe('ann notes:read')
    expect(world.pages).toHaveLength(1)
  },
)
