import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { copyTree, type Copy } from './copies.ts'
import { apply, type Mutant } from './mutants.ts'

const PROJECT = 'tsconfig.build.json'

/** Checks whether the compiler rejects a mutant, one at a time, in an unmodified copy of the tree. */
export class Types {
  readonly #root: string
  readonly #folder: string
  readonly #sources: ReadonlyMap<string, string>
  #copy: Copy | undefined
  #turn: Promise<unknown> = Promise.resolve()

  constructor(root: string, folder: string, sources: ReadonlyMap<string, string>) {
    this.#root = root
    this.#folder = folder
    this.#sources = sources
  }

  reject(mutant: Mutant): Promise<boolean> {
    const result = this.#turn.then(() => this.#check(mutant))
    this.#turn = result.catch(() => undefined)
    return result
  }

  async #check(mutant: Mutant): Promise<boolean> {
    if (!existsSync(join(this.#root, PROJECT))) return false
    const copy = (this.#copy ??= await this.#compilingCopy())
    const { file } = mutant
    const text = this.#sources.get(file) ?? ''
    copy.write(file, apply(text, mutant))
    const compiles = await this.#compiles(copy)
    copy.write(file, text)
    return !compiles
  }

  async #compilingCopy(): Promise<Copy> {
    const copy = copyTree(this.#root, this.#folder)
    if (!(await this.#compiles(copy))) throw new Error('the sources do not compile without a mutant')
    return copy
  }

  async #compiles({ folder }: Copy): Promise<boolean> {
    const compiler = join('node_modules', 'typescript', 'bin', 'tsc')
    const args = [compiler, '-p', PROJECT, '--noEmit']
    const child = spawn(process.execPath, args, { cwd: folder, stdio: 'ignore' })
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    if (code === null) throw new Error(`the compiler was killed by ${signal}`)
    return code === 0
  }
}
