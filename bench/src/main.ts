import { benchAccept } from './accept.js';
import { benchSegmentation } from './segmentation.js';

const wanted = process.argv.slice(2);
const runs = (name: string) => wanted.length === 0 || wanted.includes(name);

if (runs('segmentation')) {
  console.log('Segmentation, texts a second against split-sms:');
  for (const { name, ours, theirs, ratio } of benchSegmentation()) {
    console.log(`  ${name.padEnd(44)} ${ratio.toFixed(1)} x   (${Math.round(ours)} against ${Math.round(theirs)})`);
  }
}
if (runs('accept')) {
  console.log('POST /send/sms, 32 connections, answered after the commit, against a bare validated route:');
  await benchAccept(3, 4);
}
