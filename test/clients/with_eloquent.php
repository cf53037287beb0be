<?php
// Laravel's Eloquent: serial and bigserial columns by its migrations, keys by RETURNING.
require '/usr/share/php/Illuminate/Database/autoload.php';

use Illuminate\Database\Capsule\Manager;
use Illuminate\Database\Eloquent\Model;
use Illuminate\Database\Schema\Blueprint;

class Customer extends Model
{
    public $timestamps = false;
    protected $guarded = [];
}

class Order extends Model
{
    public $timestamps = false;
    protected $guarded = [];

    public function customer()
    {
        return $this->belongsTo(Customer::class);
    }
}

$capsule = new Manager();
$capsule->addConnection(['driver' => 'pgsql', 'host' => getenv('PGHOST'), 'port' => getenv('PGPORT'),
                         'database' => getenv('PGDATABASE'), 'username' => getenv('PGUSER'), 'password' => '',
                         'charset' => 'utf8']);
$capsule->setAsGlobal();
$capsule->bootEloquent();

function verify(bool $condition, $what): void
{
    if (!$condition) {
        throw new Exception(var_export($what, true));
    }
}

switch ($argv[1]) {
    case 'create':
        Manager::schema()->create('customers', function (Blueprint $table) {
            $table->increments('id');
            $table->text('name');
        });
        Manager::schema()->create('orders', function (Blueprint $table) {
            $table->id();
            $table->unsignedInteger('customer_id');
            $table->foreign('customer_id')->references('id')->on('customers');
        });
        break;
    case 'migrate':
        Manager::schema()->table('customers', function (Blueprint $table) {
            $table->text('note')->nullable();
        });
        break;
    case 'use':
        $customer = Customer::create(['name' => 'one']);
        verify(Customer::max('id') === $customer->id, $customer->id);
        verify(Manager::table('customers')->insertGetId(['name' => 'two']) > $customer->id, $customer->id);
        Customer::insert(array_fill(0, 10, ['name' => 'many']));
        $order = new Order();
        $order->customer()->associate($customer);
        $order->save();
        verify(Order::find($order->id)->customer->name === 'one', $order->id);
        echo 'key: ', gettype($customer->id), "\n";
        break;
}
