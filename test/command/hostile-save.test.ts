import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { line } from './line.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'save-'))
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

function images(count: number): readonly string[] {
  const server = join(import.meta.dirname, 'hostile-amounts-server.ts')
  return [
    'call',
    't',
    '--save',
    folder,
    '--',
    process.execPath,
    '--import',
    'tsx',
    server,
    'images',
    `${count}`,
  ]
}

describe('call --save with a server that sends a lot', () => {
  it('saves 1000 files, and says that there are more', async () => {
    const { code, stdout, stderr } = await line(images(5000), { terminal: true })
    expect(code).toBe(0)
    expect(readdirSync(folder)).toHaveLength(1000)
    expect(stderr).toContain('only the first 1000 of 5000 files were saved')
    expect(stdout.split('\n').filter((text) => text.includes('saved as'))).toHaveLength(1000)
  })

  it('hears Ctrl-C while it saves', async () => {
    const stop = new AbortController()
    const watching = watch(folder, () => stop.abort())
    const { code } = await line(images(900), { terminal: true, signal: stop.signal })
    watching.close()
    expect(code).toBe(130)
    expect(readdirSync(folder).length).toBeLessThan(900)
  })

  it('overwrites nothing, and follows no links', async () => {
    writeFileSync(join(folder, 'image-1.png'), 'mine')
    mkdirSync(join(folder, 'image-3.png'))
    await line(images(2), { terminal: true })
    expect(readdirSync(folder).toSorted()).toEqual([
      'image-1.png',
      'image-2.png',
      'image-3.png',
      'image-4.png',
    ])
    expect(existsSync(join(folder, 'image-5.png'))).toBe(false)
  })
})
