import { appendFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect } from 'vitest'

/** Tells which test file the units that this process hits from now on belong to. */
const { testPath = '' } = expect.getState()
appendFileSync(join('.cache', 'hits', String(process.pid)), `= ${relative(process.cwd(), testPath)}\n`)
