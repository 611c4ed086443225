import { answer } from './limit-answer.mjs'

let rest = ''
let out = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (piece) => {
  const lines = (rest + piece).split('\n')
  rest = lines.pop()
  for (const line of lines) answer(line, send)
})

/** Answers that are ready in the same turn are written together. */
function send(text) {
  if (out === '') queueMicrotask(flush)
  out += `${text}\n`
}

function flush() {
  process.stdout.write(out)
  out = ''
}
