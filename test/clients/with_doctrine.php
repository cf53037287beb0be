<?php
// Doctrine ORM: keys of the strategy IDENTITY, which it reads by currval; and of SEQUENCE, for which it calls nextval.
require '/usr/share/php/Doctrine/ORM/autoload.php';

use Doctrine\DBAL\DriverManager;
use Doctrine\ORM\Configuration;
use Doctrine\ORM\EntityManager;
use Doctrine\ORM\Mapping as ORM;
use Doctrine\ORM\Mapping\Driver\AttributeDriver;
use Doctrine\ORM\Proxy\ProxyFactory;
use Doctrine\ORM\Tools\SchemaTool;

#[ORM\Entity]
#[ORM\Table(name: 'customers')]
class Customer
{
    #[ORM\Id]
    #[ORM\Column(type: 'bigint')]
    #[ORM\GeneratedValue(strategy: 'IDENTITY')]
    public $id;
    #[ORM\Column(type: 'text')]
    public $name;
}

#[ORM\Entity]
#[ORM\Table(name: 'orders')]
class Order
{
    #[ORM\Id]
    #[ORM\Column(type: 'bigint')]
    #[ORM\GeneratedValue(strategy: 'SEQUENCE')]
    #[ORM\SequenceGenerator(sequenceName: 'orders_id_seq', allocationSize: 10)]
    public $id;
    #[ORM\ManyToOne(targetEntity: Customer::class)]
    public $customer;
}

$configuration = new Configuration();
$configuration->setMetadataDriverImpl(new AttributeDriver([__DIR__]));
$configuration->setProxyDir(sys_get_temp_dir());
$configuration->setProxyNamespace('Proxies');
$configuration->setAutoGenerateProxyClasses(ProxyFactory::AUTOGENERATE_EVAL);
$connection = DriverManager::getConnection(
    ['driver' => 'pdo_pgsql', 'host' => getenv('PGHOST'), 'port' => getenv('PGPORT'), 'dbname' => getenv('PGDATABASE'),
     'user' => getenv('PGUSER')], $configuration);
$manager = new EntityManager($connection, $configuration);
$classes = [$manager->getClassMetadata(Customer::class), $manager->getClassMetadata(Order::class)];

function verify(bool $condition, $what): void
{
    if (!$condition) {
        throw new Exception(var_export($what, true));
    }
}

switch ($argv[1]) {
    case 'create':
        (new SchemaTool($manager))->createSchema($classes);
        break;
    case 'migrate':
        $tool = new SchemaTool($manager);
        // It drops what it does not know, but for what a filter hides. The tables are as the classes say.
        verify($tool->getUpdateSchemaSql($classes) === ['DROP SEQUENCE snowflake.id_seq CASCADE'], 'unfiltered');
        $configuration->setSchemaAssetsFilter(
            fn ($asset) => !str_starts_with(is_string($asset) ? $asset : $asset->getName(), 'snowflake.'));
        verify($tool->getUpdateSchemaSql($classes) === [], $tool->getUpdateSchemaSql($classes));
        $tool->updateSchema($classes);
        break;
    case 'use':
        $customer = new Customer();
        $customer->name = 'one';
        $manager->persist($customer);
        $orders = [];
        for ($i = 0; $i < 25; ++$i) {
            $orders[$i] = new Order();
            $orders[$i]->customer = $customer;
            $manager->persist($orders[$i]);
        }
        $manager->flush();
        $key = $customer->id;
        verify((string) $connection->fetchOne('SELECT max(id) FROM customers') === (string) $key, $key);
        verify((string) $connection->fetchOne('SELECT count(*) FROM orders WHERE customer_id = ?', [$key]) === '25', $key);
        $manager->clear();
        verify($manager->find(Order::class, $orders[7]->id)->customer->name === 'one', $key);
        echo 'key: ', gettype($key), "\n";
        break;
}
