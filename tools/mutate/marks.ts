import { appendFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect } from 'vitest'

/** Logs the test file to which the following hits of this process belong. */
const { testPath = '' } = expect.getState()
appendFileSync(join('.cache', 'hits', String(process.pid)), `= ${relative(process.cwd(), testPath)}\n`)
