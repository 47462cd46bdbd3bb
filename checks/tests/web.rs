//! The checks of what a user sees.

use crate::support::{change, judge, new};

#[test]
fn image_alt() {
    judge(
        "a11y-image-alt",
        "a.tsx",
        &[
            "<img src='x'/>",
            "<img src='x'>",
            "const a = <Image\n  src={x}\n  width={1}\n/>;",
            "return <div>{x ? <img src={a > b ? c : d} /> : null}</div>",
            "const a = <A icon={<img src='x'/>} alt='y' />",
            "function A() { return (\n <p>it's {n} {`${<img/>}`}</p>\n) }",
            "<img data-alt='x' />",
        ],
        &[
            "<img src='x' alt=''/>",
            "<img\n  src='x'\n  alt={t('a')}\n/>",
            "<Image {...props} />",
            "// <img src='x'>",
            "/* <img> */",
            "<div>{/* <img src='x'/> */}</div>",
            "const s = \"<img src='x'>\"",
            "const s = `<img src='x'>`",
            "<image src='x'/>",
            "<img src='x' aria-hidden=\"true\" />",
            "<img src='x' role='presentation' />",
            "const re = /<img>/; const n = a < img || b > c",
            "const a = useState<img>()",
            "<img src={a} title=\"a > b\" alt=\"c\" />",
            "<img src={() => { return '}' }} alt='x' />",
        ],
    );
    judge(
        "a11y-image-alt",
        "a.html",
        &["<IMG SRC=x>", "<p>a < b <img src=x>\n</p>", "<img\n src=\"x\"\n>"],
        &[
            "<img alt src=x>",
            "<!-- <img> -->",
            "<image src='x'/>",
            "<script>let a = '<img>'</script>",
            "<img alt=x>",
        ],
    );
    judge(
        "a11y-image-alt",
        "a.vue",
        &["<template><img :src=\"a\"></template>"],
        &["<img :src='a' :alt='b'>", "<img v-bind='c'>", "<img :src=\"a > b\" v-bind:alt=\"d\">"],
    );
    judge(
        "a11y-image-alt",
        "a.svelte",
        &["<img {src}>"],
        &["<img {src} {alt}>", "<img {...p}>", "<img src={a ? '>' : \"}\"} alt={x}>"],
    );
    assert!(new("a11y-image-alt", "a.ts", "<img/>").is_empty());
    // The old one is not told again, the new one is, at its own place.
    let found =
        change("a11y-image-alt", "a.tsx", Some("<img src='a'/>\n"), "<img src='b'/>\n<img src='a'/>\n");
    assert_eq!(found.iter().map(|found| (found.line, found.column)).collect::<Vec<_>>(), [(1, 1)]);
}

#[test]
fn form_labels() {
    judge(
        "a11y-form-labels",
        "a.tsx",
        &[
            "<input type='text' />",
            "<select name='a'><option/></select>",
            "<textarea placeholder='Name' />",
            "<><label htmlFor='a'>A</label><input id='b' /></>",
            "<div><label>A</label><input name='x' /></div>",
        ],
        &[
            "<label>Name <input name='n' /></label>",
            "<><label htmlFor='a'>A</label>\n<input id='a' /></>",
            "<><label htmlFor={id}>A</label><input id={id} /></>",
            "<><Label htmlFor=\"a\">A</Label><select id=\"a\"/></>",
            "<input aria-label='x' />",
            "<input aria-labelledby='x' />",
            "<input type='hidden' />",
            "<input type=\"submit\" value='x' />",
            "<input {...register('x')} />",
            "<FormField name='x'><input /></FormField>",
            "<Input />",
            "<Form.Label><input/></Form.Label>",
            "<input type={kind} aria-label={x} />",
        ],
    );
    judge(
        "a11y-form-labels",
        "a.html",
        &["<p><input name=a></p>"],
        &["<label for=a>x</label><input id=a>", "<label>A<input></label>"],
    );
}

#[test]
fn interactive() {
    judge(
        "a11y-interactive-elements",
        "a.tsx",
        &[
            "<div onClick={go}>x</div>",
            "<span\n  onClick={() => go()}\n  role='button'\n>x</span>",
            "<a href='x'>click here</a>",
            "<a href='x'>\n  <b>Read more</b>\n</a>",
            "<Link to='x'>here</Link>",
            "<Link href='x'>Learn more →</Link>",
        ],
        &[
            "<div onClick={go} role='button' tabIndex={0}>x</div>",
            "<button onClick={go}>x</button>",
            "<div {...props} onClick={go}>x</div>",
            "<div onClick={e => e.stopPropagation()}>x</div>",
            "<div role='presentation' onClick={go}/>",
            "<a href='x'>Learn more about prices</a>",
            "<a href='x' aria-label='Prices'>here</a>",
            "<a href='x'>Click here to see the prices</a>",
            "<p>click here</p>",
            "<div onClickOutside={x}/>",
        ],
    );
    judge(
        "a11y-interactive-elements",
        "a.vue",
        &["<div @click=\"go\">x</div>", "<div v-on:click='go'/>"],
        &["<div @click.stop='x' role='button' tabindex='0'>x</div>"],
    );
}

#[test]
fn headings() {
    judge(
        "a11y-heading-hierarchy",
        "a.tsx",
        &["<div><h1>a</h1><h1>b</h1></div>", "<h1>a</h1>\n<h3>b</h3>\n", "<><h2>a</h2>{x && <h4>b</h4>}</>"],
        &[
            "<div><h1>a</h1><h2>b</h2><h3>c</h3><h2>d</h2></div>",
            "<h3>a</h3>",
            "<div>{x ? <h1>a</h1> : <h1>b</h1>}</div>",
            "function A() { return <h1>a</h1> }\nfunction B() { return <h1>b</h1> }",
            "function A() { if (x) { return <h1>a</h1> }\n return <h1>b</h1> }",
            "// <h1>a</h1><h1>b</h1>\n<h1/>",
        ],
    );
    judge(
        "a11y-heading-hierarchy",
        "a.html",
        &["<h1>a</h1>\n<h3>b</h3>\n", "<h1>a</h1><p><h1>b</h1>"],
        &["<h1>a</h1><h2>b</h2>", "<!-- <h1> --><h1>a</h1>"],
    );
}

#[test]
fn touch_targets() {
    judge(
        "mobile-touch-targets",
        "a.tsx",
        &[
            "<button className=\"w-8 h-8\">x</button>",
            "<button\n  className={cn('p-1', x && \"rounded\")}\n>x</button>",
            "<Button className='size-6'/>",
            "<button className={`h-6 ${x}`}/>",
        ],
        &[
            "<button className=\"w-12 h-12\">x</button>",
            "<button className=\"px-2\">x</button>",
            "<button className=\"w-8 h-8 min-w-11 min-h-11\">x</button>",
            "<button className=\"md:w-8\">x</button>",
            "<button className=\"p-2 h-12\">x</button>",
            "<button className=\"p-4\">x</button>",
            "<div className=\"w-8 h-8\"/>",
            "<button className=\"w-full p-3\">x</button>",
        ],
    );
}

#[test]
fn responsive() {
    judge(
        "mobile-responsive-patterns",
        "a.tsx",
        &[
            "<div className=\"w-[900px]\"/>",
            "<div className='grid grid-cols-4'/>",
            "<div onMouseEnter={x}/>",
            "<div className='w-[40rem]'/>",
        ],
        &[
            "<div className='grid grid-cols-1 md:grid-cols-4'/>",
            "<div className='grid grid-cols-4 max-sm:grid-cols-1'/>",
            "<div className='grid-cols-3'/>",
            "<div className='max-w-[900px]'/>",
            "<div className='w-[900px] max-w-full'/>",
            "<div className='w-[300px]'/>",
            "<div className='md:w-[900px]'/>",
            "<div onMouseEnter={x} onClick={y}/>",
            "<div onMouseEnter={x} {...rest}/>",
        ],
    );
}

#[test]
fn arbitrary_values() {
    judge(
        "style-no-arbitrary-values",
        "a.tsx",
        &[
            "<div className=\"bg-[#ff0000]\"/>",
            "<div className=\"p-[13px]\"/>",
            "<p className={x ? 'md:-mt-[3px]' : ''}/>",
            "<p className='hover:text-[#fff]/50'/>",
            "<p className='gap-x-[7px]'/>",
        ],
        &[
            "<div className=\"bg-[var(--x)]\"/>",
            "<div className='w-[900px]'/>",
            "<div className='bg-red-500 p-4'/>",
            "<div title='p-[13px]'/>",
            "<div className='bg-[url(#a)]'/>",
            "<div className='grid-cols-[1fr_2fr]'/>",
        ],
    );
}

#[test]
fn focus_visible() {
    judge(
        "style-focus-visible",
        "a.tsx",
        &["<button className='outline-none'/>", "<input\n className=\"focus:outline-none border\"\n/>"],
        &[
            "<button className='outline-none focus-visible:ring-2'/>",
            "<button className='focus:outline-none focus:border-blue-500'/>",
            "<button className='outline'/>",
            "<div tabIndex={-1} className='outline-none'/>",
            "<p className='no-outline-none-x'/>",
        ],
    );
}

#[test]
fn query_state() {
    judge(
        "react-query-loading-state",
        "a.tsx",
        &[
            "const {data} = useQuery(k)\n",
            "const {data, isLoading} = useQuery<A, B>({ queryKey })\n",
            "const m = useMutation(f)\n",
            "// isLoading isError\nconst {data} = useQuery(k)\n",
        ],
        &[
            "const {data, isLoading, isError} = useQuery(k)\n",
            "const q = useQuery(k); if (q.isPending) return 1; if (q.error) return 2\n",
            "const {data, status} = useQuery(k)\n",
            "const {data} = useSuspenseQuery(k)\n",
            "export const useX = () => useQuery(k)\n",
            "export function useX() { return useQuery(k) }\n",
            "const m = useMutation(f); <A d={m.isPending}/>\n",
            "import { useQuery } from 'x'\n",
            "// useQuery(k)\nconst s = 'useQuery(k)'\n",
        ],
    );
}

#[test]
fn empty_state() {
    judge(
        "react-empty-state",
        "a.tsx",
        &["xs.map(x => <p/>)\n", "<ul>{data?.items?.map((x) => {\n  return <li key={x}>{x}</li>\n})}</ul>"],
        &[
            "const n = xs.map(Number)\n",
            "xs.length === 0 ? <E/> : xs.map(x => <p/>)",
            "if (!xs?.length) return null\nreturn <ul>{xs.map(x => <p/>)}</ul>",
            "<ul>{[1, 2].map(x => <p/>)}</ul>",
            "<ul>{NAV_ITEMS.map(x => <p/>)}</ul>",
            "const tabs = [{a: 1}]\nconst x = <ul>{tabs.map(t => <p/>)}</ul>",
            "<ul>{[...Array(5)].map(x => <p/>)}</ul>",
            "<ul>{Array.from({length: 5}).map(x => <p/>)}</ul>",
            "<><EmptyState/>{xs.map(x => <p/>)}</>",
            "// xs.map(x => <p/>)",
            "const o = new Map(); o.map",
        ],
    );
}

#[test]
fn lazy_loading() {
    judge(
        "react-lazy-loading",
        "pages/a.tsx",
        &[
            "import Chart from './Chart'\n",
            "import { BarChart as B, CodeEditor } from '../c'\n",
            "const C = React.lazy(() => import('./C'))\n",
            "import { Line } from 'react-chartjs-2'\n",
        ],
        &[
            "import type { Chart } from './Chart'\n",
            "import { Map } from 'lucide-react'\n",
            "const C = lazy(() => import('./C'))\nconst x = <Suspense fallback={1}><C/></Suspense>\n",
            "const C = dynamic(() => import('./Chart'))\n",
            "import Header from './Header'\n",
            "import { SiteMap } from './x'\n",
            "// import Chart from './Chart'\n",
            "import './chart.css'\n",
        ],
    );
    assert!(new("react-lazy-loading", "components/a.tsx", "import Chart from './Chart'\n").is_empty());
}

#[test]
fn seo() {
    let page = "export default function A() { return <p/> }\n";
    judge(
        "seo-page-metadata",
        "pages/a.tsx",
        &["<p/>\n", page],
        &[
            "<Head/>",
            "export const metadata = { title: 'x' }\nexport default () => <p/>",
            "export const x = 1\n",
            "'use client'\nexport default () => <p/>",
            "<><title>x</title></>",
        ],
    );
    for path in [
        "lib/app/util.tsx",
        "pages/api/a.tsx",
        "pages/_app.tsx",
        "src/components/a.tsx",
        "app/layout.tsx",
        "app/dashboard/table.tsx",
        "src/x.tsx",
    ] {
        assert!(new("seo-page-metadata", path, page).is_empty(), "{path}");
    }
    for path in ["app/page.tsx", "src/app/about/page.tsx", "src/pages/a.astro", "routes/a.tsx", "pages/a.vue"]
    {
        assert_eq!(new("seo-page-metadata", path, page).len(), 1, "{path}");
    }
    assert!(new("seo-page-metadata", "a.html", "<p>a part</p>").is_empty());
    assert_eq!(new("seo-page-metadata", "a.html", "<html><body><p>x</p></body></html>").len(), 1);
    judge(
        "seo-open-graph",
        "pages/a.tsx",
        &[
            "<Head><title>x</title></Head>",
            "<Head><meta property='og:title'/></Head>",
            "export const metadata = { title: 'x' }\nexport default () => <p/>",
        ],
        &[
            "<Head/>og:title og:description og:image",
            "export const metadata = { openGraph: { title: 'x', description: 'y', images: [] } }\nexport default () => <p/>",
            "export const metadata = makeMetadata('x')\nexport default () => <p/>",
            "<p/>",
        ],
    );
    let divs = "<div>".repeat(12);
    judge(
        "seo-semantic-html",
        "pages/a.tsx",
        &[&divs],
        &[&format!("<main>{divs}</main>"), "<div/>", &format!("<PageHeader/>{divs}"), &format!("// {divs}")],
    );
    judge(
        "seo-structured-data",
        "pages/blog/a.tsx",
        &["<Head/>"],
        &["<script type='application/ld+json'/>", "<ArticleJsonLd/>", "export const x = 1"],
    );
    for path in
        ["src/components/Blogger.tsx", "pages/postcss/a.tsx", "pages/about.tsx", "components/blog/a.tsx"]
    {
        assert!(new("seo-structured-data", path, page).is_empty(), "{path}");
    }
    for path in ["app/products/[id]/page.tsx", "pages/events/index.tsx", "pages/recipe.tsx"] {
        assert_eq!(new("seo-structured-data", path, page).len(), 1, "{path}");
    }
}
