import { spawnSync } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'
import { ensureProgram } from '../../tools/programs.ts'

/** A real terminal, in which a test types what a person would. */
export class Terminal implements Disposable {
  readonly #tmux = ensureProgram('tmux')
  readonly #socket: string

  constructor(name: string, cwd: string, env: Readonly<Record<string, string>> = {}) {
    this.#socket = `pierhead-${name}-${process.pid}`
    const variables = Object.entries({ PS1: '$ ', TERM: 'xterm-256color', ...env }).flatMap(
      ([key, value]) => ['-e', `${key}=${value}`],
    )
    this.#run(
      '-f',
      '/dev/null',
      'new-session',
      '-d',
      '-x',
      '120',
      '-y',
      '200',
      '-c',
      cwd,
      ...variables,
      'bash --norc --noprofile',
    )
  }

  /** Types a line. */
  type(text: string): void {
    this.#run('send-keys', '-l', text)
    this.#run('send-keys', 'Enter')
  }

  /** Presses a key, such as `C-c` or `Down`. */
  press(key: string): void {
    this.#run('send-keys', key)
  }

  /** What the screen shows. */
  get screen(): string {
    return this.#run('capture-pane', '-p', '-S', '-').trimEnd()
  }

  /** Waits until the screen shows something. The bound only ends a hang; it is long, because the machine may be busy. */
  async shows(pattern: RegExp | string): Promise<string> {
    const until = Date.now() + 300_000
    const isShown = (screen: string): boolean =>
      typeof pattern === 'string' ? screen.includes(pattern) : pattern.test(screen)
    for (;;) {
      const { screen } = this
      if (isShown(screen)) return screen
      if (Date.now() > until) throw new Error(`the terminal does not show ${String(pattern)}:\n${screen}`)
      await setTimeout(200)
    }
  }

  [Symbol.dispose](): void {
    spawnSync(this.#tmux, ['-L', this.#socket, 'kill-server'])
  }

  #run(...args: readonly string[]): string {
    const { stdout, stderr, status } = spawnSync(this.#tmux, ['-L', this.#socket, ...args], {
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`tmux ${args[0] ?? ''} failed: ${stderr}`)
    return stdout
  }
}
