import assert from 'node:assert/strict'
import { connect } from 'pierhead/client'
import { erlmcp, official, type Profile } from 'pierhead/profiles'
import { app } from './server.ts'

await using client = await connect(app, { profile: erlmcp })
assert.equal(await client.call('wind'), '12 knots from the west')
await assert.rejects(client.call('tide'), { kind: 'unknown_tool', code: -32031 })

/** Two choices changed, the rest as published. */
export const strict: Profile = official.with({ versionMismatch: 'reject', nullIdErrors: true })
