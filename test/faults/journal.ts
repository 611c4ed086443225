import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file in which servers write down what they did; it outlives them. */
export class Journal implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'pierhead-faults-'))
  readonly path: string = join(this.#folder, 'journal')

  constructor() {
    writeFileSync(this.path, '')
  }

  /** How often a line was written. */
  count(line: string): number {
    return this.lines().filter((one) => one === line).length
  }

  lines(): readonly string[] {
    return readFileSync(this.path, 'utf8').split('\n').slice(0, -1)
  }

  write(line: string): void {
    appendFileSync(this.path, `${line}\n`)
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
