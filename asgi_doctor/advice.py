"""The advice that the doctor gives, in the user's terms. Each piece of advice begins with the cure to try first."""

import re

from asgi_doctor.finding import Cure

SLEEP = Cure("`await asyncio.sleep(…)` instead of `time.sleep(…)`", "time.sleep(1)", "await asyncio.sleep(1)")
HTTP = Cure(
    "use `httpx.AsyncClient`, created once in the lifespan, and await its calls",
    "answer = requests.get(url)",
    "async with httpx.AsyncClient() as client:  # in the lifespan\n    yield {'client': client}\n"
    "answer = await request.state.client.get(url)  # in the endpoint",
)
AWS = Cure(
    "use an asynchronous client, aioboto3's, opened once in the lifespan, and await its calls",
    "sqs.send_message(QueueUrl=url, MessageBody=text)",
    "async with aioboto3.Session().client('sqs') as sqs:  # in the lifespan\n    yield {'sqs': sqs}\n"
    "await request.state.sqs.send_message(QueueUrl=url, MessageBody=text)",
)
DATABASE = Cure(
    "use an asynchronous driver (asyncpg, psycopg's AsyncConnection, redis.asyncio), or call this one in a thread",
    "rows = connection.execute(query).fetchall()",
    "cursor = await connection.execute(query)  # of an AsyncConnection\nrows = await cursor.fetchall()",
)
SQLITE = Cure(
    "call the database in a thread: `await anyio.to_thread.run_sync(…)`",
    "rows = connection.execute(query).fetchall()",
    "rows = await anyio.to_thread.run_sync(fetch, query)  # fetch() opens its own connection",
)
SUBPROCESS = Cure(
    "`await asyncio.create_subprocess_exec(…)` instead of the `subprocess` module",
    "subprocess.run(['convert', name], check=True)",
    "process = await asyncio.create_subprocess_exec('convert', name)\nif await process.wait() != 0:\n    raise …",
)
LOCK = Cure(
    "use `asyncio.Lock`, `asyncio.Event` or `asyncio.Queue`, or wait in a thread: `await anyio.to_thread.run_sync(…)`",
    "with threading_lock:\n    …",
    "async with asyncio_lock:\n    …",
)
FUTURE = Cure(
    "`await asyncio.wrap_future(future)` instead of `future.result()`; an asynchronous wait",
    "result = pool.submit(work).result()",
    "result = await asyncio.get_running_loop().run_in_executor(pool, work)",
)
FILE = Cure(
    "read and write files in a thread: `await anyio.to_thread.run_sync(…)`, or with `anyio.open_file`",
    "text = path.read_text()",
    "text = await anyio.Path(path).read_text()",
)
SOCKET = Cure(
    "use an asynchronous client or `asyncio.open_connection(…)`, or call this one in a thread",
    "connection = socket.create_connection(address)",
    "reader, writer = await asyncio.open_connection(*address)",
)
WAIT = Cure(
    "call it in a thread: `await anyio.to_thread.run_sync(…)`, or declare the endpoint with `def`",
    "result = fetch(key)",
    "result = await anyio.to_thread.run_sync(fetch, key)",
)
ENDPOINT = Cure(
    "declare the endpoint with `def`, so that a thread waits",
    "async def endpoint():\n    return fetch()",
    "def endpoint():\n    return fetch()",
)
COMPUTE = Cure(
    "compute in a process pool",
    "result = price(orders)",
    "pool = ProcessPoolExecutor()  # in the lifespan\n"
    "result = await asyncio.get_running_loop().run_in_executor(pool, price, orders)",
)
RELEASING = Cure(
    "call it in a thread: `await anyio.to_thread.run_sync(…)`; this code releases the interpreter lock",
    "digest = hash_password(password)",
    "digest = await anyio.to_thread.run_sync(hash_password, password)",
)
REQUEST = Cure(
    "do less for each request: smaller bodies, or validate the bytes in one step, without `json.loads`",
    "async def load(rows: list[Row]):",
    "async def load(request: Request):\n    rows = rows_adapter.validate_json(await request.body())",
)
RESPONSE = Cure(
    "do less for each response: smaller pages, or return a `Response` that is serialised already",
    "return orders",
    "return Response(orders_adapter.dump_json(orders[:100]), media_type='application/json')",
)
ROWS = Cure(
    "do less: fewer rows, or columns instead of objects",
    "orders = (await session.scalars(select(Order))).all()",
    "rows = (await session.execute(select(Order.id, Order.total).limit(100))).all()",
)
JSON = Cure(
    "do less: smaller documents, or a faster parser (orjson, msgspec); a process pool only if it returns little",
    "data = json.loads(body)",
    "data = orjson.loads(body)",
)
REGULAR_EXPRESSION = Cure(
    "do less: an expression without nested repetition, on shorter texts; otherwise a process pool",
    "re.match(r'(a+)+$', text)",
    "re.match(r'a+$', text[:1000])",
)
BUILD = Cure(
    "create it once, in the lifespan, instead of for each request",
    "client = Client()  # in the endpoint",
    "yield {'client': Client()}  # in the lifespan\nclient = request.state.client  # in the endpoint",
)
ROUTES = Cure("send a request before the service is ready: FastAPI builds a router's routes at the first request")
IMPORT = Cure(
    "import it once, before the first request: at the top of a module that is imported at the start",
    "async def report():\n    import pandas",
    "import pandas\nasync def report():\n    …",
)
TOKENS = Cure(
    "allow more threads, use each for less time, or use none: `async def` and an asynchronous client",
    "def endpoint():\n    return fetch()  # 40 of these at a time",
    "anyio.to_thread.current_default_thread_limiter().total_tokens = 100  # in the lifespan",
)
EXECUTOR = Cure(
    "allow more threads in the default executor, use each for less time, or use none: an asynchronous client",
    "await asyncio.to_thread(fetch)  # min(32, cores + 4) of these at a time",
    "loop.set_default_executor(ThreadPoolExecutor(max_workers=100))  # in the lifespan",
)
CONNECTIONS = Cure(
    "keep each connection for less time, or allow more connections: more threads would wait for the same pool",
    "with Session() as session:\n    order = session.get(Order, key)\n    notify(order)  # keeps the connection",
    "with Session() as session:\n    order = session.get(Order, key)\nnotify(order)",
)
GARBAGE = Cure(
    "make fewer objects that live long, or collect less: `gc.freeze()` after the start, and higher thresholds",
    "gc.collect()  # traverses all objects",
    "gc.freeze()  # at the end of the start: never traverses these objects again\ngc.set_threshold(50_000, 20, 100)",
)
STARTUP_WAITS = Cure(
    "wait before serving without blocking: await it in the lifespan, or in a thread; nothing else starts meanwhile",
    "time.sleep(5)  # until the database is up",
    "await asyncio.sleep(5)",
)
STARTUP_COMPUTES = Cure(
    "do this before serving in a thread or process, or prepare it when the image is built",
    "index = build_index()",
    "index = await anyio.to_thread.run_sync(build_index)",
)
# Libraries that wait, by the path of a file in the chain or by the user's line.
WAITING_CALLS = (
    (re.compile(r"/botocore/|/boto3/|/s3transfer/"), AWS),
    (re.compile(r"/subprocess\.py$|\bsubprocess\.|\bos\.(system|waitpid|wait|popen)\("), SUBPROCESS),
    (
        re.compile(
            r"/(requests|httpx|httpcore|urllib3)/|/urllib/request\.py$|/http/client\.py$|\b(requests|httpx)\.|urlopen\("
        ),
        HTTP,
    ),
    (re.compile(r"\bsqlite3\b|/sqlite3/"), SQLITE),
    (re.compile(r"/(psycopg2?|pymysql|MySQLdb|mysql|redis|pymongo|sqlalchemy|peewee|cassandra)/"), DATABASE),
    (re.compile(r"/concurrent/futures/|\.result\(|/asgiref/sync\.py$|run_coroutine_threadsafe"), FUTURE),
    (re.compile(r"/threading\.py$|/queue\.py$|\.acquire\(|\bwith \w*_?lock|\.join\(\)|multiprocessing"), LOCK),
    (
        re.compile(
            r"/socket\.py$|/ssl\.py$|\.(recv|recv_into|accept|connect|sendall|readline)\(|getaddrinfo|gethostby"
        ),
        SOCKET,
    ),
    (re.compile(r"\bopen\(|\.(read|write|read_text|read_bytes|write_text|write_bytes)\(|fsync|/pathlib"), FILE),
)
