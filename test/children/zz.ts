import { spawn } from 'node:child_process'
import { open, program } from './open.ts'
import { createLineReader } from '../../src/wire/lines.ts'
import { readText } from '../../src/wire/message.ts'
const N = 20000
const q = (a:number[], p:number)=>a.sort((x,y)=>x-y)[Math.floor(a.length*p)]!*1000
async function bare(detached=false, stderr: 'inherit'|'pipe'='inherit', own=false, micro=false) {
  const child = spawn(process.execPath, [program('server.mjs')], { stdio: ['pipe','pipe',stderr], detached })
  let rest = ''; let got: (m: unknown)=>void = () => {}
  if (!own) child.stdout.setEncoding('utf8').on('data', (c: string) => { const l = (rest + c).split('\n'); rest = l.pop()!; for (const x of l) got(JSON.parse(x)) })
  else { const lines = createLineReader({maxBytes: 1e7, decode: b => Buffer.from(b.buffer,b.byteOffset,b.byteLength).toString('utf8'), onLine: t => got(readText(t,128)), onOversize(){}, onBadEncoding(){}}); child.stdout.on('data', c => lines.push(c)) }
  child.stderr?.on('data',()=>{})
  const t: number[] = []
  for (let i=1;i<=N;i++){ const s=performance.now(); await new Promise(r => { got = r; const w = () => child.stdin!.write(JSON.stringify({jsonrpc:'2.0',id:i,method:'hello',params:{a:1}})+'\n'); if (micro) queueMicrotask(w); else w() }); t.push(performance.now()-s) }
  child.stdin!.end()
  return t
}
async function ours(sig?: AbortSignal) {
  const { line, call } = await open()
  const t: number[] = []
  for (let i=1;i<=N;i++){ const s=performance.now(); await call('hello',{a:1}, sig); t.push(performance.now()-s) }
  await line.close()
  return t
}
const one = new AbortController().signal
for (let i=0;i<2;i++) for (const [n,f] of Object.entries({bare: () => bare(), detached: () => bare(true), stderr: () => bare(true,'pipe'), own: () => bare(true,'pipe',true), micro: ()=>bare(true,'pipe',true,true), ours: () => ours(), oneSignal: () => ours(one) })) { const t = await f(); console.log(n, 'p50', q(t,.5).toFixed(1), 'p99', q(t,.99).toFixed(1)) }
