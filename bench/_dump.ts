import { bundle, budgets } from './size.ts'
console.log(await bundle(budgets.find((b) => b.name === process.argv[2])!.code))
